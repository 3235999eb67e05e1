import { z } from 'zod';
import type { Limit } from '../request/request-context.js';
import { addressOrBlockProblem } from './cidr.js';
import { isHost, isWithoutOrigin, readHostEntry, readOrigin } from './host.js';
import { holdsCredential, httpUrlProblem } from './http-url.js';

/**
 * How one kind of setting is read from a variable's text. Its messages complete the sentence "the value …" and say
 * what is wrong; `allowed` says what is right, in the problem and in the documents alike.
 */
export interface Kind<T extends z.ZodType<unknown, string>> {
  readonly type: T;
  readonly allowed: string;
}

/** Ten years of 365 days, in seconds: the longest time any setting may name. */
const TEN_YEARS_SECONDS = 315_360_000;

/** Digits with an optional fraction: no sign, no exponent, no leading zero that another reader takes for octal. */
const PLAIN_DECIMAL = /^(0|[1-9]\d*)(\.\d+)?$/;
const PLAIN_WHOLE = /^(0|[1-9]\d*)$/;

/** RFC 6750, section 2.1: what may stand behind `Bearer `. */
const B64_TOKEN = /^[A-Za-z0-9\-._~+/]+=*$/;
const VISIBLE_ASCII = /^[\x21-\x7e]+$/;

function between(min: number, max: number) {
  const above = `is above ${max}`;
  return z.number(above).min(min, `is below ${min}`).max(max, above);
}

/** A whole number from `min` to `max`. */
export function whole(min: number, max: number, unit?: string) {
  const type = z.string().regex(PLAIN_WHOLE, 'is not a whole number').transform(Number).pipe(between(min, max));
  return {
    type,
    allowed: `a whole number${unit === undefined ? '' : ` of ${unit}`} from ${min} to ${max}`,
  };
}

/** Whole seconds from `min` (1 where nothing else is said) to ten years. */
export function seconds(min: 0 | 1 = 1) {
  return whole(min, TEN_YEARS_SECONDS, 'seconds');
}

function decimal(min: number, max: number) {
  return z.string().regex(PLAIN_DECIMAL, 'is not a plain decimal number').transform(Number).pipe(between(min, max));
}

/**
 * Requests per second. The bounds keep a bucket's arithmetic exact: the largest burst at the smallest rate refills
 * within 10^15 milliseconds, which a double still counts one by one.
 */
export const rate = {
  type: decimal(0.000001, 1_000_000),
  allowed: 'a number such as 5 or 0.5, from 0.000001 to 1000000',
};

/** Tokens that a bucket holds. */
export const burst = whole(1, 1_000_000);

/** Calls per UTC day. */
export const dailyQuota = whole(1, 1_000_000_000, 'calls');

/** A share of a whole: above 0, at most 1. */
export const share = {
  type: decimal(0, 1).refine((value) => value > 0, 'is not above 0'),
  allowed: 'a number above 0 and at most 1, such as 0.5',
};

/** `true` or `false` and nothing else, so that a misspelt one can't mean either. */
export const flag = {
  type: z.enum(['true', 'false'], 'is unknown').transform((text) => text === 'true'),
  allowed: 'true or false',
};

/** One of a few words. */
export function choice<const T extends readonly [string, ...string[]]>(...words: T) {
  return { type: z.enum(words, 'is unknown'), allowed: words.join(', ') };
}

function list<T extends z.ZodType<string, string>>(item: T) {
  return z
    .string()
    .transform((text) => text.split(',').map((entry) => entry.trim()))
    .pipe(z.array(item));
}

const withoutRepeats = <T extends string>(entries: T[]): T[] => [...new Set(entries)];

/** An entry that `read` puts into canonical form, or refuses with `message` by answering undefined. */
function entry(read: (text: string) => string | undefined, message: string) {
  return z.string().transform((text, context) => {
    const canonical = read(text);
    if (canonical !== undefined) return canonical;
    context.addIssue({ code: 'custom', message });
    return z.NEVER;
  });
}

const LIMITS = ['preauth', 'tenant', 'quota', 'global'] as const satisfies readonly Limit[];

/** Layers of limits, by the names that answers and metrics have for them. */
export const layers = {
  type: list(z.enum(LIMITS, 'is no layer')).transform((entries): Limit[] => withoutRepeats(entries)),
  allowed: 'preauth, tenant, quota and global, or some of them, comma separated',
};

/** An address to listen on, or a name that resolves to one. */
export const listenHost = {
  type: z.string().refine(isHost, 'is neither an address nor a host name'),
  allowed: 'an IPv4 address, an IPv6 address without brackets, or a host name',
};

/** Addresses and CIDR blocks, without a bit set behind the prefix. */
export const addressBlocks = {
  type: list(
    z.string().superRefine((text, context) => {
      const message = addressOrBlockProblem(text);
      if (message !== undefined) context.addIssue({ code: 'custom', message });
    }),
  ).transform(withoutRepeats),
  allowed: 'IP addresses and CIDR blocks, comma separated (203.0.113.7, 198.51.100.0/24, 2001:db8::/48)',
};

/** Origins as browsers send them, default ports dropped. */
export const origins = {
  type: list(
    z
      .string()
      .refine((text) => !isWithoutOrigin(text), 'has a scheme that browsers send no origin of')
      .pipe(entry(readOrigin, 'is not an origin')),
  ).transform(withoutRepeats),
  allowed: 'origins as scheme://host[:port], comma separated, without path and without *',
};

/** Names for the `Host` header, in lower case, IPv6 in brackets; `*` stands alone. */
export const hosts = {
  type: list(entry(readHostEntry, 'is not a host'))
    .refine((entries) => entries.length === 1 || !entries.includes('*'), 'mixes * with names')
    .transform(withoutRepeats),
  allowed: 'host names or addresses, each with an optional port, comma separated, or * alone',
};

/** The base of an HTTP API: no query, no fragment, no credential; trailing slashes dropped. */
export const baseUrl = {
  type: z.string().transform((text, context) => {
    const wrong = (message: string) => {
      context.addIssue({ code: 'custom', message });
      return z.NEVER;
    };
    const problem = httpUrlProblem(text);
    if (problem !== undefined) return wrong(problem);
    if (holdsCredential(text)) return wrong('holds a credential');
    if (/[?#]/.test(text)) return wrong('has a query or a fragment');
    const base = new URL(text).href.replace(/\/+$/, '');
    return base.endsWith('/v1beta1') ? wrong('ends in /v1beta1, which this server adds itself') : base;
  }),
  allowed: 'an http or https URL up to and without /v1beta1, without query',
};

/** Where telemetry goes; what looks like a URL with a host names no file of this machine. */
export const telemetrySink = {
  type: z
    .templateLiteral([z.enum(['stdout', 'off']).or(z.templateLiteral(['file:', z.string().min(1)]))], 'is unknown')
    .refine((text) => !/^file:(\/\/(?!\/)|.*\/$|\s*$)/.test(text), 'names no file'),
  allowed: 'stdout, off, or file:PATH',
};

/** Any text of visible ASCII. */
export const visibleText = {
  type: z.string().regex(VISIBLE_ASCII, 'holds a space, a control character or something beyond ASCII'),
  allowed: 'visible ASCII characters without spaces',
};

/** The public half of an API key; everything behind a colon would be taken for the private one. */
export const publicKey = {
  type: visibleText.type.refine((text) => !text.includes(':'), 'holds a colon'),
  allowed: 'visible ASCII characters without spaces and colons',
};

/** A secret that is sent as a bearer token. */
export const bearerToken = {
  type: visibleText.type.min(16, 'is shorter than 16 characters'),
  allowed: 'at least 16 visible ASCII characters without spaces',
};

/** Bearer tokens in RFC 6750's alphabet, which has neither comma nor colon: none can be taken for an API key. */
export const bearerTokens = {
  type: list(
    z.string().regex(B64_TOKEN, "is outside RFC 6750's token alphabet").min(16, 'is shorter than 16 characters'),
  ).superRefine((entries, context) => {
    const twice = entries.findIndex((token, index) => entries.indexOf(token) !== index);
    if (twice >= 0) context.addIssue({ code: 'custom', path: [twice], message: 'is there twice' });
  }),
  allowed:
    "tokens of at least 16 characters of RFC 6750's alphabet (A-Z a-z 0-9 - . _ ~ + /, then =), comma separated, none twice",
};
