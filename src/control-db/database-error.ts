/**
 * What is known of a unit of work that failed. `not-stored`: COMMIT was never sent, so nothing of it is in the
 * database. `unknown`: COMMIT, or a statement outside a transaction, was sent and its answer was lost or an error; it
 * may be stored.
 */
export type FailedOutcome = 'not-stored' | 'unknown';

/**
 * A unit of work that the control database did not complete. The message holds the driver's code alone: statements,
 * parameters, user names and hosts stay out of logs.
 */
export class DatabaseError extends Error {
  override readonly name = 'DatabaseError';

  /** @param code the driver's own code, or one of ours: `TIMEOUT`, `NOT_CONNECTED`, `CLOSED`, `QUEUE_FULL` */
  constructor(
    readonly code: string,
    readonly outcome: FailedOutcome,
  ) {
    super(`control database: ${code}`);
  }
}

const CODE = /^[A-Za-z0-9_]{1,64}$/;

/** The driver's code of any error, or the name of its class where it has none; nothing else of it is kept. */
export function errorCode(error: unknown): string {
  if (!(error instanceof Error)) return 'UNKNOWN';
  const { driverError, code } = error as { driverError?: unknown; code?: unknown };
  if (driverError instanceof Error && driverError !== error) return errorCode(driverError);
  // SQLite has one code for every mistake in a statement; this one is told apart because it can be mended.
  if (code === 'SQLITE_ERROR' && error.message.includes('no such table')) return 'SQLITE_NO_SUCH_TABLE';
  return typeof code === 'string' && CODE.test(code) ? code : error.name;
}

/** The embedded file is held by another process at this moment; the same work succeeds later. */
export function isBusy(code: string): boolean {
  return code.startsWith('SQLITE_BUSY') || code.startsWith('SQLITE_LOCKED');
}

const SCHEMA_MISSING: ReadonlySet<string> = new Set(['ER_NO_SUCH_TABLE', '42P01', 'SQLITE_NO_SUCH_TABLE']);

/** Our tables are not there (any more): the database was replaced by another, so migrations have to run again. */
export function isSchemaMissing(code: string): boolean {
  return SCHEMA_MISSING.has(code);
}
