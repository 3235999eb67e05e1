/**
 * A body may hold this many values, its objects and lists included: more than any message here needs, and what readers
 * of schemas spend on each mistake adds up to seconds in a body of many thousands.
 */
export const MOST_VALUES = 1000;

const QUOTE = 0x22;
const COMMA = 0x2c;
const OPEN_LIST = 0x5b;
const BACKSLASH = 0x5c;
const OPEN_OBJECT = 0x7b;

/**
 * Whether a JSON text in UTF-8 holds more than {@link MOST_VALUES} values; counted by what begins or divides them. Of
 * a text that is no JSON the answer means nothing, but it ends.
 */
export function hasTooManyValues(text: Uint8Array): boolean {
  // Each value but the first brings two bytes at least.
  if (text.length < 2 * MOST_VALUES) return false;
  let values = 1;
  let inString = false;
  for (let at = 0; at < text.length; at += 1) {
    const byte = text[at];
    if (byte === QUOTE) inString = !inString;
    else if (byte === BACKSLASH) at += 1;
    else if (!inString && (byte === COMMA || byte === OPEN_LIST || byte === OPEN_OBJECT)) {
      values += 1;
      if (values > MOST_VALUES) return true;
    }
  }
  return false;
}

/** What readers of schemas take for an object's prototype, and leave out without a word. */
export const UNREADABLE_MEMBER = '__proto__';

/** Whether an object somewhere in a parsed body has a member that no schema could tell of. */
export function hasUnreadableMember(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return Object.hasOwn(value, UNREADABLE_MEMBER) || Object.values(value).some(hasUnreadableMember);
}
