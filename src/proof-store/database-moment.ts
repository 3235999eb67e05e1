import { isAccepted, type StoredProof } from './stored-proof.js';

/**
 * One reading of the database's clock, between two readings of the monotonic one. Times cross from machine to machine by
 * the database's clock alone, and within a process by the monotonic one.
 */
export interface DatabaseMoment {
  /** Milliseconds since the Unix epoch by the database's clock. */
  readonly databaseMs: number;
  /** Monotonic milliseconds before it was asked, and after it had answered. */
  readonly beforeMs: number;
  readonly afterMs: number;
}

const NEVER = Number.NEGATIVE_INFINITY;

/**
 * A proof's times by the database's clock, whole and 0 for never. What the round trip leaves unknown is held against the
 * proof: acceptances and uses were at the earliest possible moment, rejections at the latest.
 */
export function toDatabaseTimes(proof: StoredProof, { databaseMs, beforeMs, afterMs }: DatabaseMoment): StoredProof {
  const earliest = (ms: number): number => (ms === NEVER ? 0 : Math.max(1, Math.floor(databaseMs + ms - afterMs)));
  return {
    ...proof,
    acceptedMs: earliest(proof.acceptedMs),
    usedMs: earliest(proof.usedMs),
    rejectedMs: proof.rejectedMs === NEVER ? 0 : Math.max(1, Math.ceil(databaseMs + proof.rejectedMs - beforeMs)),
  };
}

/**
 * The way back, under the same rule. Of acceptance and rejection only the one that counts is told, as the row has their
 * order, which no round trip blurs. An acceptance that lies ahead, because the clock was set back or the row was written
 * since, is left out until its time has come; any other time that lies ahead counts as now.
 */
export function toMonotonicTimes(row: StoredProof, { databaseMs, beforeMs, afterMs }: DatabaseMoment): StoredProof {
  const since = (ms: number): number => Math.min(0, ms - databaseMs);
  const counts = isAccepted(row);
  return {
    ...row,
    acceptedMs: counts && row.acceptedMs <= databaseMs ? beforeMs + since(row.acceptedMs) : NEVER,
    usedMs: row.usedMs > 0 ? beforeMs + since(row.usedMs) : NEVER,
    rejectedMs: !counts && row.rejectedMs > 0 ? afterMs + since(row.rejectedMs) : NEVER,
  };
}
