import type { ControlDbOptions } from '../config/control-db-url.js';

/** One of the three languages that the control database may speak. */
export type Dialect = ControlDbOptions['dialect'];

/** What is written differently per database, beside what the query builder already translates. */
export interface SqlDialect {
  /** A file with one connection for everybody, instead of a server with a pool. */
  readonly embedded: boolean;
  /** The database's own clock: whole milliseconds since the Unix epoch, whatever the session's time zone. */
  readonly nowMs: string;
  /** The end of an INSERT into `quota_usage` that adds to the total where there is one. */
  readonly onUsageConflict: string;
  /** The end of an INSERT into `proven_credential` of which the later of every two times stays. */
  readonly onProofConflict: string;
  /** The lesser of two numbers, as a function. */
  readonly least: string;
  /** Whether DELETE takes ORDER BY and LIMIT; elsewhere a subquery has to choose. */
  readonly deletesInOrder: boolean;
  /** Run once on each new connection. */
  readonly sessionSetup: string | undefined;
  /** Run as the first statement of each transaction. */
  readonly transactionSetup: string | undefined;
  /** The `position`th parameter, counted from 1. */
  readonly placeholder: (position: number) => string;
  /** The lock under which one instance at a time migrates, on a session of its own. */
  readonly migrationLock: {
    readonly begin: readonly string[];
    /** Takes it where it is free; the one value of the one row is 0 or false where it is not. */
    readonly attempt: string | undefined;
    readonly wait: string | undefined;
    readonly release: string;
  };
}

const ON_CONFLICT_ADD =
  'ON CONFLICT (tenant, utc_day) DO UPDATE ' +
  'SET calls = quota_usage.calls + excluded.calls, updated_at = excluded.updated_at';
const ON_DUPLICATE_KEY_ADD = 'ON DUPLICATE KEY UPDATE calls = calls + VALUES(calls), updated_at = VALUES(updated_at)';

const onProofConflict = (begin: string, given: (column: string) => string, greatest: string): string => {
  const own = (column: string): string => `proven_credential.${column}`;
  const later = (column: string): string => `${column} = ${greatest}(${own(column)}, ${given(column)})`;
  // MySQL sets columns one after the other, so what is compared has to come after the comparison.
  const isLater = `${given('accepted_at')} >= ${own('accepted_at')}`;
  return [
    `${begin} tenant = CASE WHEN ${isLater} THEN ${given('tenant')} ELSE ${own('tenant')} END`,
    ...['accepted_at', 'used_at', 'rejected_at'].map(later),
    `updated_at = ${given('updated_at')}`,
  ].join(', ');
};
const ON_CONFLICT_PROOF = 'ON CONFLICT (fingerprint) DO UPDATE SET';
const excluded = (column: string): string => `excluded.${column}`;

/** Any fixed number that no other application is likely to lock. */
const ADVISORY_LOCK = 7_146_031_955_102;

/**
 * Limits that the server itself keeps, for the case that this process or the network is gone: without them a cut-off
 * transaction would hold its locks until TCP notices. Together with {@link UNIT_TIMEOUT_MS} they bound how long any
 * transaction lasts, which the overlap of incremental reads relies on. PostgreSQL's are per transaction, so that they
 * hold behind a pooler too, and never leak into a session that somebody else gets next.
 */
export const DIALECTS: Readonly<Record<Dialect, SqlDialect>> = {
  sqlite: {
    embedded: true,
    nowMs: "CAST(round(unixepoch('subsec') * 1000) AS INTEGER)",
    onUsageConflict: ON_CONFLICT_ADD,
    onProofConflict: onProofConflict(ON_CONFLICT_PROOF, excluded, 'MAX'),
    least: 'MIN',
    deletesInOrder: false,
    sessionSetup: undefined,
    transactionSetup: undefined,
    placeholder: () => '?',
    migrationLock: { begin: ['BEGIN IMMEDIATE'], attempt: undefined, wait: undefined, release: 'COMMIT' },
  },
  mysql: {
    embedded: false,
    nowMs: "(TIMESTAMPDIFF(MICROSECOND, '1970-01-01 00:00:00', UTC_TIMESTAMP(3)) DIV 1000)",
    onUsageConflict: ON_DUPLICATE_KEY_ADD,
    onProofConflict: onProofConflict('ON DUPLICATE KEY UPDATE', (column) => `VALUES(${column})`, 'GREATEST'),
    least: 'LEAST',
    deletesInOrder: true,
    sessionSetup: 'SET SESSION innodb_lock_wait_timeout = 1, SESSION wait_timeout = 30',
    transactionSetup: undefined,
    placeholder: () => '?',
    migrationLock: {
      begin: [],
      attempt: "SELECT GET_LOCK('tidb-cloud-mcp migrations', 0) AS taken",
      wait: "SELECT GET_LOCK('tidb-cloud-mcp migrations', 30)",
      release: "SELECT RELEASE_LOCK('tidb-cloud-mcp migrations')",
    },
  },
  postgres: {
    embedded: false,
    nowMs: '(floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint)',
    onUsageConflict: ON_CONFLICT_ADD,
    onProofConflict: onProofConflict(ON_CONFLICT_PROOF, excluded, 'GREATEST'),
    least: 'LEAST',
    deletesInOrder: false,
    sessionSetup: undefined,
    transactionSetup:
      'SET TRANSACTION ISOLATION LEVEL READ COMMITTED; SET LOCAL statement_timeout = 2000; ' +
      'SET LOCAL lock_timeout = 1000; SET LOCAL idle_in_transaction_session_timeout = 30000',
    placeholder: (position) => `$${position}`,
    migrationLock: {
      begin: ['BEGIN', 'SET LOCAL lock_timeout = 30000'],
      attempt: `SELECT pg_try_advisory_xact_lock(${ADVISORY_LOCK}) AS taken`,
      wait: `SELECT pg_advisory_xact_lock(${ADVISORY_LOCK})`,
      release: 'COMMIT',
    },
  },
};

/** One unit of work, a connect attempt or a load may last this long; then it counts as failed. */
export const UNIT_TIMEOUT_MS = 2_000;
