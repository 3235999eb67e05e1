/**
 * Where time comes from. Two clocks, never mixed: the monotonic one for buckets, idle times and time-outs, the wall
 * clock (UTC) for the quota's day and for stamps that people read.
 */
export interface Clock {
  /** Milliseconds since an arbitrary start, never going back. */
  monotonicMs(): number;
  /** Milliseconds since the Unix epoch; may step in either direction. */
  utcMs(): number;
}

/** Injection token of the {@link Clock}. */
export const CLOCK = Symbol('Clock');
