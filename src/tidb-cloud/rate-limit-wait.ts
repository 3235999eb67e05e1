/** Response headers as they come off the wire: names in lower case, a repeated one as a list. */
export type ResponseHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

/** TiDB Cloud's window is a minute; what claims to be longer than an hour is an epoch or a mistake, not a wait. */
const MAX_WAIT_SECONDS = 3600;

/**
 * How long TiDB Cloud's own limit lasts: whole seconds, at least 1, from `X-Ratelimit-Reset`, else from `Retry-After`
 * (RFC 9110, section 10.2.3: seconds or a date), else 1. A value that is no believable wait counts as missing.
 * @param utcMs now, to read a date against
 */
export function rateLimitWait(headers: ResponseHeaders, utcMs: number): number {
  return (
    believable(seconds(first(headers['x-ratelimit-reset']))) ??
    believable(seconds(first(headers['retry-after']))) ??
    believable(untilDate(first(headers['retry-after']), utcMs)) ??
    1
  );
}

function first(value: string | readonly string[] | undefined): string | undefined {
  return (typeof value === 'string' ? value : value?.[0])?.trim();
}

function seconds(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,15}(\.\d{1,9})?$/.test(text) ? Number(text) : undefined;
}

function untilDate(text: string | undefined, utcMs: number): number | undefined {
  // Only the one form that RFC 9110 lets a server send: Date.parse alone takes almost anything for a date.
  if (text === undefined || !/^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/.test(text))
    return undefined;
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : (at - utcMs) / 1000;
}

function believable(wait: number | undefined): number | undefined {
  if (wait === undefined || wait > MAX_WAIT_SECONDS) return undefined;
  return Math.max(1, Math.ceil(wait));
}
