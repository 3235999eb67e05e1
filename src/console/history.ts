import { LIMITS } from '../observability/labels.js';
import type { LatencyCount } from '../observability/prometheus.adapter.js';
import type { AddressSource, Limit } from '../request/request-context.js';
import { SampleRing } from './sample-ring.js';

/** How far back the console looks. */
export const WINDOW_MS = 900_000;
/** How often the counters are looked at. */
export const SAMPLE_MS = 5_000;

/** What this instance had counted at a moment, since its start. */
export interface Sample {
  /** Monotonic milliseconds. */
  readonly atMs: number;
  readonly refused: Readonly<Record<Limit, number>>;
  readonly admitted: number;
  /** Requests by where their client address was read from. */
  readonly clientIp: Readonly<Record<AddressSource, number>>;
  /** Exchanges with TiDB Cloud by how they ended. */
  readonly upstream: Readonly<Record<string, number>>;
  readonly latency: readonly LatencyCount[];
}

/** What was counted between neighbouring samples, the oldest first; all lists have the same length. */
export interface HistoryReport {
  readonly windowSeconds: number;
  /** How long ago each stretch ended. */
  readonly ageSeconds: number[];
  /** How long it was. */
  readonly seconds: number[];
  readonly refused: Record<Limit, number[]>;
  readonly admitted: number[];
}

/** The counters of the last quarter of an hour, sampled; a fixed number of samples, whatever the traffic. */
export class History {
  private readonly ring = new SampleRing<Sample>(WINDOW_MS / SAMPLE_MS + 1);
  private latestMs = Number.NEGATIVE_INFINITY;

  /** Keeps a sample; one that follows the last too closely is left out, since it would show noise as a rate. */
  add(sample: Sample): void {
    if (sample.atMs - this.latestMs < SAMPLE_MS / 2) return;
    this.latestMs = sample.atMs;
    this.ring.push(sample);
  }

  /** The samples of the window that ends at `nowMs`, the oldest first. */
  samples(nowMs: number): Sample[] {
    return this.ring.all().filter(({ atMs }) => nowMs - atMs <= WINDOW_MS);
  }

  /** What was counted in each stretch of the window. */
  report(nowMs: number): HistoryReport {
    const samples = this.samples(nowMs);
    const pairs = samples.slice(1).map((to, index) => ({ from: samples[index] as Sample, to }));
    const refused = LIMITS.map((limit) => [
      limit,
      pairs.map(({ from, to }) => to.refused[limit] - from.refused[limit]),
    ]);
    return {
      windowSeconds: WINDOW_MS / 1000,
      ageSeconds: pairs.map(({ to }) => tenths(nowMs - to.atMs)),
      seconds: pairs.map(({ from, to }) => tenths(to.atMs - from.atMs)),
      refused: Object.fromEntries(refused) as Record<Limit, number[]>,
      admitted: pairs.map(({ from, to }) => to.admitted - from.admitted),
    };
  }
}

function tenths(ms: number): number {
  return Math.round(ms / 100) / 10;
}
