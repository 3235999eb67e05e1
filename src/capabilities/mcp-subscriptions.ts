/** The method that would open an endless stream; nothing here ever changes, so that nobody needs it. */
const LISTEN = 'subscriptions/listen';

/** A method that the protocol does not have and the SDK therefore answers as not found. */
const NOT_FOUND = 'subscriptions/none';

/**
 * Takes `subscriptions/listen` away: the SDK serves it by itself and cannot be told not to, so the message reaches it
 * under a name that it answers with "method not found". Contract: "Surfaces".
 */
export function withoutSubscriptions<T>(message: T): T {
  if (typeof message !== 'object' || message === null || !('method' in message)) return message;
  return message.method === LISTEN ? { ...message, method: NOT_FOUND } : message;
}

/** The same for the header in which newer clients repeat the method. */
export function withoutSubscriptionsHeader(header: string): string {
  return header === LISTEN ? NOT_FOUND : header;
}
