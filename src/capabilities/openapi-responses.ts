import type { AppErrorExtras } from '../errors/app-error.js';
import type { ErrorCode } from '../errors/error-code.js';

/** The names of the shared responses, each with its status. */
export const SHARED_RESPONSES = {
  BadRequest: 400,
  Unauthenticated: 401,
  Forbidden: 403,
  NotFound: 404,
  RequestTimeout: 408,
  Conflict: 409,
  Expired: 410,
  BodyTooLarge: 413,
  UnsupportedMediaType: 415,
  RateLimited: 429,
  Internal: 500,
  UpstreamError: 502,
  Unavailable: 503,
} as const;

/** One of {@link SHARED_RESPONSES}. */
export type SharedResponse = keyof typeof SHARED_RESPONSES;

/** One way in which a shared response comes about. */
interface Case {
  code: ErrorCode;
  message: string;
  extras?: AppErrorExtras;
}

const wait = (retryAfterSeconds: number, limit: string): AppErrorExtras => ({ limit, retryAfterSeconds });

/** What each shared response says, with an example for each code. */
export const RESPONSE_CASES: Record<SharedResponse, { description: string; headers?: string[]; cases: Case[] }> = {
  BadRequest: {
    description: 'The input is not what the schema allows; `errors` names every mistake.',
    cases: [
      {
        code: 'INVALID_ARGUMENT',
        message: 'Invalid arguments: pageSize: must be at most 100.',
        extras: { errors: [{ path: 'pageSize', message: 'must be at most 100' }] },
      },
    ],
  },
  Unauthenticated: {
    description: 'No credential, or one that TiDB Cloud rejects. Stop retrying with it.',
    headers: ['WWW-Authenticate'],
    cases: [{ code: 'UNAUTHENTICATED', message: 'TiDB Cloud rejected this credential.' }],
  },
  Forbidden: {
    description: 'The credential, the origin or the host may not do this.',
    cases: [
      { code: 'FORBIDDEN', message: 'TiDB Cloud does not allow this (code 49900003).' },
      { code: 'READ_ONLY', message: 'This server is in read-only mode: it changes nothing.' },
    ],
  },
  NotFound: {
    description: 'There is nothing under this id, or no such confirmation, for this credential.',
    cases: [
      { code: 'NOT_FOUND', message: 'TiDB Cloud has nothing under this id for your credential.' },
      { code: 'CONFIRM_UNKNOWN', message: 'There is no such confirmation for this caller.' },
    ],
  },
  RequestTimeout: {
    description: 'The body did not arrive in time.',
    cases: [{ code: 'REQUEST_TIMEOUT', message: 'The body did not arrive in time.' }],
  },
  Conflict: {
    description: 'The confirmation cannot be used, or not any more; nothing was changed by this call.',
    cases: [
      {
        code: 'CONFIRM_USED',
        message: 'This confirmation was used already: its outcome was "done".',
        extras: { details: { outcome: 'done', operation: 'delete_backup', result: { backupId: '2018945' } } },
      },
      { code: 'CONFIRM_TARGET_CHANGED', message: 'The target is no longer what the preflight showed.' },
    ],
  },
  Expired: {
    description: 'The confirmation has expired; ask for a new preflight.',
    cases: [{ code: 'CONFIRM_EXPIRED', message: 'This confirmation has expired and was never used.' }],
  },
  BodyTooLarge: {
    description: 'The body is too large.',
    cases: [{ code: 'BODY_TOO_LARGE', message: 'The body is too large.' }],
  },
  UnsupportedMediaType: {
    description: 'The body is not JSON.',
    cases: [{ code: 'UNSUPPORTED_MEDIA_TYPE', message: 'Send application/json.' }],
  },
  RateLimited: {
    description:
      'A limit was met; `limit` says which. After `Retry-After` seconds the same call works again, except that `quota` lasts until the next UTC midnight: stop retrying with this key. `upstream` is a limit of TiDB Cloud itself.',
    headers: ['Retry-After'],
    cases: [
      {
        code: 'TENANT_RATE_LIMITED',
        message: 'Rate limited: this API key exceeded its per-second request limit. Retry in 3s.',
        extras: wait(3, 'tenant'),
      },
      {
        code: 'TENANT_QUOTA_EXHAUSTED',
        message: 'Quota exhausted: this API key has used up its calls of this UTC day. Stop retrying with it.',
        extras: wait(41_112, 'quota'),
      },
      {
        code: 'GLOBAL_RATE_LIMITED',
        message: 'Rate limited: the server as a whole is busy, not this API key. Retry in 1s.',
        extras: wait(1, 'global'),
      },
      {
        code: 'PREAUTH_RATE_LIMITED',
        message: 'Rate limited: too many requests from this address without an accepted credential. Retry in 1s.',
        extras: wait(1, 'preauth'),
      },
      {
        code: 'UPSTREAM_RATE_LIMITED',
        message: "TiDB Cloud's own limit for this key is reached. Retry in 21s.",
        extras: wait(21, 'upstream'),
      },
    ],
  },
  Internal: {
    description: 'A fault of this server.',
    cases: [{ code: 'INTERNAL', message: 'This server failed to do that.' }],
  },
  UpstreamError: {
    description: 'TiDB Cloud answered something unreadable, or rejected the key that this server itself works with.',
    cases: [
      { code: 'UPSTREAM_ERROR', message: 'TiDB Cloud answered something that this server cannot read.' },
      { code: 'SERVER_KEY_REJECTED', message: "TiDB Cloud rejected this server's own key." },
    ],
  },
  Unavailable: {
    description:
      'TiDB Cloud, or the ledger of confirmations, cannot be asked at the moment, or this instance is shutting down.',
    headers: ['Retry-After'],
    cases: [
      {
        code: 'UPSTREAM_UNAVAILABLE',
        message: 'TiDB Cloud is not available at the moment.',
        extras: { retryAfterSeconds: 1 },
      },
      {
        code: 'CONFIRM_LEDGER_UNAVAILABLE',
        message: 'Confirmations cannot be checked at the moment, so nothing was changed.',
        extras: { retryAfterSeconds: 5 },
      },
      { code: 'SHUTTING_DOWN', message: 'This instance is shutting down.' },
    ],
  },
};
