import type { Clock } from '../clock/clock.js';
import { backoffMs } from '../control-db/backoff.js';

/**
 * After the last instance has pushed, all read once more: soon, which catches ordinary pushes, and once a push that took
 * as long as it may must have ended, which makes one lag hold for these too. Design: "Flushes are aligned".
 */
const READ_AGAIN_MS = [500, 2_500];

/** Instances spread their flushes over the lesser of this and a tenth of the interval. */
const LONGEST_JITTER_MS = 1_000;

/** After a failure the next try does not wait for the next multiple of a long interval. */
const RETRY_MS = { first: 1_000, longest: 30_000 };

/**
 * When an instance flushes and reads: at multiples of the interval of the UTC clock, so that all instances have each
 * other's counts one lag after they were made; unaligned it would be up to two intervals.
 */
export class FlushSchedule {
  private readonly jitterMs: number;
  private slot: number | undefined;

  /** @param random from 0 up to but not including 1 */
  constructor(
    private readonly clock: Clock,
    readonly intervalMs: number,
    private readonly random: () => number,
  ) {
    this.jitterMs = Math.min(LONGEST_JITTER_MS, intervalMs / 10);
  }

  /** How long ago a live instance was seen at most: three intervals. */
  get aliveMs(): number {
    return 3 * this.intervalMs;
  }

  /** Milliseconds until the next flush; never longer than an interval and its jitter. */
  untilFlushMs(): number {
    const utcMs = this.clock.utcMs();
    let slot = Math.floor(utcMs / this.intervalMs) + 1;
    // A timer may fire a moment early; without this, the same multiple would be served twice.
    if (slot === this.slot) slot += 1;
    this.slot = slot;
    return Math.min(slot * this.intervalMs - utcMs, this.intervalMs) + this.random() * this.jitterMs;
  }

  /** Milliseconds from now until each of the further reads of the multiple that has just been served. */
  untilReadsMs(): number[] {
    const sinceMs = this.slot === undefined ? 0 : this.clock.utcMs() - this.slot * this.intervalMs;
    const served = sinceMs >= 0 && sinceMs < this.intervalMs ? sinceMs : 0;
    return READ_AGAIN_MS.map((delayMs) => this.jitterMs + delayMs)
      .filter((delayMs) => delayMs < this.intervalMs)
      .map((delayMs) => Math.max(0, delayMs - served));
  }

  /** Milliseconds until the next try after `failures` that followed on each other. */
  untilRetryMs(failures: number): number {
    return backoffMs(failures, RETRY_MS.first, RETRY_MS.longest, this.random());
  }
}
