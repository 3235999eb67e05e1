import type { Credential } from '../request/credential.js';

/** An error as TiDB Cloud's APIs write it. */
export interface UpstreamError {
  /** TiDB Cloud's own code, which is not the HTTP status. */
  readonly code: number | string;
  /** The upstream's sentence, unscrubbed: for {@link scrub} only. */
  readonly sentence: string | undefined;
}

/** What of a sentence is looked at, and what of it is passed on at the most, in characters. */
const MAX_READ = 1000;
const MAX_PASSED = 300;
const EMAIL = /[^\s@<>()"',;]+(?:@|%40)[^\s@<>()"',;]*/gi;
const CODE_TEXT = /^[\w.-]{1,64}$/;

/**
 * The error in a parsed body, or undefined where this is not TiDB Cloud's JSON: `{code, message, details}` of the
 * clusters' API, or `{code, error, msgPrefix, status}` of IAM. Anything in between (a proxy, a firewall, a portal)
 * speaks otherwise, and what it says proves nothing.
 */
export function parseUpstreamError(body: unknown): UpstreamError | undefined {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return undefined;
  const { code, message, details, error, msgPrefix, status } = body as Record<string, unknown>;
  if (Number.isSafeInteger(code) && typeof message === 'string' && (details === undefined || Array.isArray(details))) {
    return { code: code as number, sentence: message };
  }
  const codeCounts = (typeof code === 'string' && CODE_TEXT.test(code)) || Number.isSafeInteger(code);
  if (codeCounts && Number.isSafeInteger(status) && (error !== undefined || typeof msgPrefix === 'string')) {
    const sentence = [msgPrefix, error].filter((part) => typeof part === 'string' && part !== '').join(': ');
    return { code: code as number | string, sentence: sentence === '' ? undefined : sentence };
  }
  return undefined;
}

/**
 * A sentence for the caller: ours, then what is left of the upstream's once it is cut to one short line without e-mail
 * addresses and without any part of the credential.
 */
export function explain(ours: string, error: UpstreamError, credential: Credential): string {
  const theirs = error.sentence === undefined ? '' : scrub(error.sentence, credential);
  return theirs === '' ? `${ours} (code ${error.code}).` : `${ours} (code ${error.code}): ${theirs}`;
}

/** Cuts an upstream sentence to one line of at most 300 characters that holds no e-mail address and no secret. */
export function scrub(sentence: string, credential: Credential): string {
  let text = sentence.slice(0, MAX_READ);
  // A cut may fall into an address or a key, whose half would no longer be known as one.
  if (sentence.length > MAX_READ) text = text.replace(/\S*$/, '');
  for (const secret of secretsOf(credential)) text = text.replaceAll(secret, '[removed]');
  text = text.replaceAll(EMAIL, '[removed]');
  text = text.replaceAll(/[\p{C}\s]+/gu, ' ').trim();
  return text.length <= MAX_PASSED ? text : `${text.slice(0, MAX_PASSED - 1).trimEnd()}…`;
}

function secretsOf(credential: Credential): string[] {
  const secrets = credential.kind === 'oauth' ? [credential.token] : [credential.privateKey, credential.publicKey];
  return secrets.filter((secret) => secret !== '');
}
