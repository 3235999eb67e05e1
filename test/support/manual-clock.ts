import type { Clock } from '../../src/clock/clock.js';

/** A clock that moves when it is told to, both hands together unless one is set by itself. */
export class ManualClock implements Clock {
  constructor(
    private utc = Date.UTC(2026, 10, 29, 12),
    private monotonic = 1_000_000,
  ) {}

  monotonicMs(): number {
    return this.monotonic;
  }

  utcMs(): number {
    return this.utc;
  }

  /** Lets time pass. */
  advance(ms: number): void {
    this.monotonic += ms;
    this.utc += ms;
  }

  /** Steps the wall clock alone, as an operator or NTP does. */
  setUtc(utcMs: number): void {
    this.utc = utcMs;
  }
}
