import type { Credential } from '../request/credential.js';
import type { Exchanged, HttpAnswer } from './exchange.js';
import type { Outcome, Unavailable, UnavailableReason } from './outcome.js';
import { rateLimitWait } from './rate-limit-wait.js';
import { explain, parseUpstreamError } from './upstream-error.js';

/**
 * What an exchange came to. A 4xx counts only in TiDB Cloud's own JSON and only in answer to a request that carried the
 * credential. A 2xx counts always, but for one to a probe that left the request's body out: nobody knows what that did.
 * @param utcMs now, for a `Retry-After` that is a date
 * @param hasBody whether the request has a body, which an unsigned probe leaves out
 */
export function classify(
  exchanged: Exchanged,
  credential: Credential,
  utcMs: number,
  hasBody: boolean,
): Outcome<unknown> {
  switch (exchanged.kind) {
    case 'rejected':
      return { kind: 'rejected' };
    case 'unanswerable':
      return unavailable('status', false);
    case 'failed':
      return unavailable(exchanged.failure.failed, exchanged.proof !== 'none' && exchanged.failure.written);
    case 'answered':
      if (exchanged.proof === 'none' && (hasBody || !isSuccess(exchanged.answer)))
        return unanswered(exchanged.answer, utcMs);
      return classifyAnswer(exchanged.answer, credential, utcMs);
  }
}

function classifyAnswer(answer: HttpAnswer, credential: Credential, utcMs: number): Outcome<unknown> {
  if (answer.status === 429) return rateLimited(answer, utcMs);
  return isSuccess(answer) ? classifySuccess(answer) : classifyError(answer, credential);
}

/** An answer that says nothing about what was asked, since it came to a bare probe. */
function unanswered(answer: HttpAnswer, utcMs: number): Outcome<unknown> {
  return answer.status === 429 ? rateLimited(answer, utcMs) : unavailable('status', isSuccess(answer));
}

function rateLimited(answer: HttpAnswer, utcMs: number): Outcome<unknown> {
  return { kind: 'rate-limited', retryAfterSeconds: rateLimitWait(answer.headers, utcMs) };
}

function isSuccess({ status }: HttpAnswer): boolean {
  return status >= 200 && status < 300;
}

function classifySuccess(answer: HttpAnswer): Outcome<unknown> {
  if (answer.status === 204) return { kind: 'ok', value: undefined };
  const value = readJson(answer.body);
  return value === undefined ? unavailable('body', true) : { kind: 'ok', value };
}

function classifyError(answer: HttpAnswer, credential: Credential): Outcome<unknown> {
  const { status } = answer;
  const error = status >= 400 && status < 500 ? parseUpstreamError(readJson(answer.body)) : undefined;
  if (error === undefined) return unavailable('status', true);
  switch (status) {
    case 403:
      return { kind: 'forbidden', message: explain('TiDB Cloud does not allow this', error, credential) };
    case 404:
      return { kind: 'not-found' };
    case 409:
    case 412:
      return {
        kind: 'conflict',
        message: explain('TiDB Cloud cannot do this in the present state', error, credential),
      };
    default:
      return { kind: 'invalid', message: explain('TiDB Cloud refused the request', error, credential) };
  }
}

function unavailable(reason: UnavailableReason, sent: boolean): Unavailable {
  return { kind: 'unavailable', reason, sent };
}

/** The JSON value of a body, or undefined for what is missing, not UTF-8 or not JSON. */
export function readJson(body: Uint8Array | undefined): unknown {
  if (body === undefined || body.byteLength === 0) return undefined;
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
  } catch {
    return undefined;
  }
}
