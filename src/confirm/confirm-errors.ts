import { AppError } from '../errors/app-error.js';

/** How long to wait before the ledger is worth asking again. */
const LEDGER_SECONDS = 5;

/** No such confirmation for this caller; another caller's token looks the same, so that nothing is told. */
export function confirmUnknown(): AppError {
  return new AppError(
    'CONFIRM_UNKNOWN',
    'There is no such confirmation for this caller. Nothing was changed. Ask for a preflight and confirm with the token that it answers, as the same caller.',
  );
}

/** The preflight's life is over. */
export function confirmExpired(): AppError {
  return new AppError(
    'CONFIRM_EXPIRED',
    'This confirmation has expired and was never used. Nothing was changed. Ask for a new preflight.',
  );
}

/** The confirmation was used; to the same caller only. */
export function confirmUsed(earlier: { outcome: string; operation: string; result?: unknown }): AppError {
  const what =
    earlier.outcome === 'pending'
      ? 'the operation is still running; ask again in a few seconds to learn how it ended'
      : `its outcome was "${earlier.outcome}"`;
  return new AppError(
    'CONFIRM_USED',
    `This confirmation was used already: ${what}. It performs nothing a second time.`,
    {
      details: { ...earlier },
    },
  );
}

/** What the preflight showed is no longer what is there. */
export function confirmTargetChanged(): AppError {
  return new AppError(
    'CONFIRM_TARGET_CHANGED',
    'The target is no longer what the preflight showed. Nothing was changed by this. Ask for a new preflight and look at what it shows.',
  );
}

/** The ledger can't be asked in time, so nothing may go on. */
export function ledgerUnavailable(): AppError {
  return new AppError(
    'CONFIRM_LEDGER_UNAVAILABLE',
    `Confirmations cannot be checked at the moment, so nothing was changed. Retry in ${LEDGER_SECONDS}s; reads go on meanwhile.`,
    { retryAfterSeconds: LEDGER_SECONDS },
  );
}

/** Nothing may be changed through this server. */
export function readOnly(): AppError {
  return new AppError(
    'READ_ONLY',
    'This server is in read-only mode: it changes nothing, and asking again will not help. Only its operator can change that.',
  );
}
