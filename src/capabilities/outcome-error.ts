import { AppError } from '../errors/app-error.js';
import type { IdentityKind } from '../request/credential.js';
import type { Outcome, UnavailableReason } from '../tidb-cloud/outcome.js';

/** Every outcome of an upstream request that is no answer. */
export type Failure = Exclude<Outcome<unknown>, { kind: 'ok' }>;

/**
 * The one place where what TiDB Cloud answered becomes what a caller is told. Contract: "Credentials and identity",
 * "Refusals".
 * @param kind whose credential was used: behind a shared token it is the server's own, and no caller can mend that
 */
export function outcomeError(failure: Failure, kind: IdentityKind): AppError {
  switch (failure.kind) {
    case 'rejected':
      return kind === 'shared' ? serverKeyRejected() : credentialRejected();
    case 'forbidden':
      return new AppError('FORBIDDEN', failure.message);
    case 'not-found':
      return new AppError(
        'NOT_FOUND',
        'TiDB Cloud has nothing under this id for your credential. Check the id against the lists.',
      );
    case 'invalid':
      return new AppError('INVALID_ARGUMENT', failure.message);
    case 'conflict':
      return new AppError('UPSTREAM_ERROR', failure.message);
    case 'rate-limited':
      return upstreamRateLimited(failure.retryAfterSeconds);
    case 'unavailable':
      return unavailable(failure.reason);
  }
}

/** The error of an answer of TiDB Cloud's that makes no sense to us. */
export function unreadableAnswer(): AppError {
  return new AppError(
    'UPSTREAM_ERROR',
    'TiDB Cloud answered something that this server cannot read. Report it if it happens again.',
  );
}

function credentialRejected(): AppError {
  return new AppError(
    'UNAUTHENTICATED',
    'TiDB Cloud rejected this credential: it may have been revoked or have expired. Stop retrying with it and sign in with another one.',
  );
}

function serverKeyRejected(): AppError {
  return new AppError(
    'SERVER_KEY_REJECTED',
    "TiDB Cloud rejected this server's own key. Only the operator of this server can mend that; report it.",
  );
}

function upstreamRateLimited(retryAfterSeconds: number): AppError {
  return new AppError(
    'UPSTREAM_RATE_LIMITED',
    `TiDB Cloud's own limit for this key is reached, which is not a limit of this server. Retry in ${retryAfterSeconds}s.`,
    { limit: 'upstream', retryAfterSeconds },
  );
}

/** How long to wait where TiDB Cloud names no time. */
const UNAVAILABLE_SECONDS = 5;

function unavailable(reason: UnavailableReason): AppError {
  if (reason === 'body') return unreadableAnswer();
  const what = reason === 'timeout' ? 'did not answer in time' : 'is not available at the moment';
  return new AppError('UPSTREAM_UNAVAILABLE', `TiDB Cloud ${what}. Retry in ${UNAVAILABLE_SECONDS}s.`, {
    retryAfterSeconds: UNAVAILABLE_SECONDS,
  });
}
