/** Texts longer than this are cut before they are looked at: a log line is for reading. */
const LONGEST_TEXT = 8192;

/** What a credential, a person or a secret looks like wherever it turns up, and what is left of it. */
const PATTERNS: readonly (readonly [RegExp, string])[] = [
  // A scheme and its value (RFC 9110, section 11.4); a word behind "Basic" in a sentence has letters alone.
  [/\b([Bb]asic|BASIC|[Bb]earer|BEARER)\s+(?![A-Z]?[a-z]{1,14}[.,:;!?]?(?:\s|$))[^\s"',;]{6,}/g, '$1 ***'],
  [/\b(digest)\s+\w{1,20}=[^\r\n]*/gi, '$1 ***'],
  [/\beyJ[\w-]{4,}\.[\w-]{2,}\.[\w-]*/g, '***'],
  [/(:\/\/)[^\s/?#@"']{1,512}@/g, '$1***@'],
  [
    /(["']?(?:password|passwd|secret|private[_-]?key|access[_-]?token|refresh[_-]?token|authorization|cookie|api[_-]?key)["']?\s{0,4}[=:]\s{0,4})("[^"]*"|'[^']*'|[^\s,;&}]+)/gi,
    '$1***',
  ],
  [/[\w.!#$%&'*+/=?^`{|}~-]{1,64}@[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63}){1,8}/gi, '***@***'],
];

/** Names of fields whose values are never written, whatever they hold. */
const SECRET_FIELD =
  /^(authorization|proxy-authorization|cookie|set-cookie|headers?|rawheaders|body|rawbody|payload|password|passwd|secret|.*token|.*private_?key|credentials?|request|req|response|res|config)$/i;

/** How deep and how wide a logged object is followed. */
const MAX_DEPTH = 4;
const MAX_ENTRIES = 50;

/**
 * The last line of defence of everything this server writes for people: takes out what looks like a credential or an
 * e-mail address, and the very secrets that this server was configured with. The first line is not to write them.
 */
export class Scrubber {
  readonly #secrets: readonly string[];

  /** @param secrets texts that must never be written; very short ones are left out, they would blank out words */
  constructor(secrets: readonly string[] = []) {
    // Longer ones first: a secret may begin with another one.
    this.#secrets = secrets.filter((secret) => secret.length >= 6).sort((a, b) => b.length - a.length);
  }

  /** A text without secrets, at most 8,192 characters of it. */
  text(text: string): string {
    let clean = text.length > LONGEST_TEXT ? `${beginning(text)}…` : text;
    for (const secret of this.#secrets) clean = clean.replaceAll(secret, '***');
    for (const [pattern, replacement] of PATTERNS) clean = clean.replace(pattern, replacement);
    return clean;
  }

  /** A value without secrets, as JSON takes it: errors as name, message and stack alone, objects to a bounded depth. */
  value(value: unknown, depth = 0): unknown {
    if (typeof value === 'string') return this.text(value);
    if (value instanceof Error) return this.error(value, depth);
    if (value === null || typeof value === 'number' || typeof value === 'boolean') return value;
    if (typeof value !== 'object') return value === undefined ? undefined : this.text(typeof value);
    if (depth >= MAX_DEPTH) return '…';
    if (Array.isArray(value)) return value.slice(0, MAX_ENTRIES).map((entry) => this.value(entry, depth + 1));
    if (value instanceof Date) return Number.isNaN(value.getTime()) ? null : value.toISOString();
    return this.#object(value, depth);
  }

  /** An error's name, code, message, stack and causes; never what a library hung on it. */
  error(error: Error, depth = 0): Record<string, unknown> {
    const code: unknown = (error as { code?: unknown }).code;
    return {
      type: this.text(error.name),
      ...(typeof code === 'string' || typeof code === 'number' ? { code: this.value(code) } : {}),
      message: this.text(error.message),
      ...(typeof error.stack === 'string' ? { stack: this.text(error.stack) } : {}),
      ...(error.cause instanceof Error && depth < MAX_DEPTH ? { cause: this.error(error.cause, depth + 1) } : {}),
    };
  }

  #object(value: object, depth: number): Record<string, unknown> {
    const clean: Record<string, unknown> = {};
    for (const [name, field] of Object.entries(value).slice(0, MAX_ENTRIES)) {
      clean[this.text(name)] = SECRET_FIELD.test(name) ? '***' : this.value(field, depth + 1);
    }
    return clean;
  }
}

/** A cut may fall into a secret, whose half would no longer be known as one: it goes back to the last white space. */
function beginning(text: string): string {
  let end = LONGEST_TEXT;
  while (end > 0 && !/\s/.test(text.charAt(end - 1))) end -= 1;
  return text.slice(0, end);
}
