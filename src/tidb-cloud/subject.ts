import { readJson } from './classify.js';
import type { HttpAnswer, HttpFailure } from './exchange.js';
import type { UnavailableReason } from './outcome.js';
import { rateLimitWait } from './rate-limit-wait.js';

/** What a userinfo endpoint says of an OAuth token (OpenID Connect Core, section 5.3). */
export type SubjectAnswer =
  | { readonly kind: 'known'; readonly subject: string }
  /** The endpoint does not take the token any more. */
  | { readonly kind: 'rejected' }
  /** Neither yes nor no; whole seconds where the endpoint named a time. */
  | {
      readonly kind: 'unavailable';
      readonly reason: UnavailableReason | 'no-subject';
      readonly retryAfterSeconds?: number;
    };

/** OpenID Connect Core, section 2: a subject has at most so many characters. */
const LONGEST_SUBJECT = 255;

/** Whether a text can be somebody's subject. */
export function isSubject(sub: unknown): sub is string {
  return typeof sub === 'string' && sub.length > 0 && sub.length <= LONGEST_SUBJECT;
}

/**
 * Reads the answer to `GET userinfo` with the token. Only a 401 rejects: a 403 is about scopes, a redirect is not
 * followed, and everything else that names no subject says nothing about the token. Decision 0020.
 * @param utcMs now, for a `Retry-After` that is a date
 */
export function readSubject(answer: HttpAnswer | HttpFailure, utcMs: number): SubjectAnswer {
  if ('failed' in answer) return { kind: 'unavailable', reason: answer.failed };
  const { status, headers, body } = answer;
  if (status === 401) return { kind: 'rejected' };
  if (status === 429) {
    return { kind: 'unavailable', reason: 'status', retryAfterSeconds: rateLimitWait(headers, utcMs) };
  }
  if (status !== 200) return { kind: 'unavailable', reason: 'status' };
  const claims = readJson(body);
  if (typeof claims !== 'object' || claims === null) return { kind: 'unavailable', reason: 'body' };
  const { sub } = claims as { sub?: unknown };
  return isSubject(sub) ? { kind: 'known', subject: sub } : { kind: 'unavailable', reason: 'no-subject' };
}
