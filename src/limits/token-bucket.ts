/**
 * A token bucket kept as one number, the theoretical arrival time (GCRA, ITU-T I.371): the moment at which the bucket
 * will be full again. All times are monotonic milliseconds.
 */
export interface BucketRate {
  readonly burst: number;
  /** Milliseconds in which one token comes back. */
  readonly intervalMs: number;
}

/**
 * A caller who waited exactly what we said is let in even where floating point lost a bit of it: a token may be taken
 * this many milliseconds before it is due. It does not add up, since the arrival time moves by whole intervals.
 */
const EARLY_MS = 1e-3;

/** The bucket of so many tokens that refills at so many a second. */
export function bucketRate(requestsPerSecond: number, burst: number): BucketRate {
  return { burst, intervalMs: 1000 / requestsPerSecond };
}

/**
 * Milliseconds until the bucket holds `needed` tokens (which may be fractional); 0 when it does now. A bucket is never
 * emptier than empty, which matters where its rate was raised while it was refilling at the old one.
 */
export function waitMs(fullAtMs: number, nowMs: number, rate: BucketRate, needed = 1): number {
  const fullInMs = Math.min(fullAtMs - nowMs, rate.burst * rate.intervalMs);
  const wait = fullInMs - (rate.burst - needed) * rate.intervalMs;
  return wait <= EARLY_MS ? 0 : wait;
}

/** The arrival time after one token was taken. */
export function afterTaking(fullAtMs: number, nowMs: number, rate: BucketRate): number {
  const emptyAtMs = nowMs + rate.burst * rate.intervalMs;
  return Math.min(Math.max(fullAtMs, nowMs), emptyAtMs) + rate.intervalMs;
}

/**
 * The arrival time after a token was given back: as if it had never been taken, and never a token more, since what the
 * bucket has regained meanwhile is not given a second time.
 * @param takenFullAtMs what {@link afterTaking} answered when the token was taken
 */
export function afterGivingBack(fullAtMs: number, takenFullAtMs: number, nowMs: number, rate: BucketRate): number {
  return fullAtMs - Math.min(rate.intervalMs, Math.max(0, takenFullAtMs - nowMs));
}

/** A wait as `Retry-After` says it: whole seconds, at least 1, and enough. Contract: "Refusals". */
export function retryAfterSeconds(wait: number): number {
  return Math.max(1, Math.ceil((wait - EARLY_MS) / 1000));
}
