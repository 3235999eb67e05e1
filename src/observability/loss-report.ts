import type { Clock } from '../clock/clock.js';

/** A broken sink is reported once in this time. */
const REPORT_EVERY_MS = 60_000;

/** Says that a sink loses events, at most once a minute however many there are. */
export class LossReport {
  #lost = 0;
  #reportedMs = Number.NEGATIVE_INFINITY;

  /** @param who begins the sentence */
  constructor(
    private readonly who: string,
    private readonly clock: Clock,
    private readonly warn: (message: string) => void,
  ) {}

  /** One event was lost. */
  lost(reason = 'failed'): void {
    this.#lost += 1;
    const nowMs = this.clock.monotonicMs();
    if (nowMs - this.#reportedMs < REPORT_EVERY_MS) return;
    this.warn(`${this.who} loses events (${reason}): ${this.#lost} since the last report.`);
    this.#reportedMs = nowMs;
    this.#lost = 0;
  }
}
