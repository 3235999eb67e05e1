import type { LatencyCount } from '../observability/prometheus.adapter.js';
import type { Sample } from './history.js';

/** Whether TiDB Cloud answers is said of so long. */
export const HEALTH_MS = 60_000;

/** How one kind of outcome has come of late. */
export interface OutcomeReport {
  readonly outcome: string;
  /** Exchanges within the window. */
  readonly requests: number;
  /** Seconds since the last one, to the nearest sample. */
  readonly lastSeenSeconds: number;
}

/** `quiet`: nothing was asked; `partly`: some exchanges got an answer that counts and some did not. */
export type UpstreamHealth = 'answering' | 'partly' | 'failing' | 'quiet';

/** TiDB Cloud as this instance has met it of late. */
export interface UpstreamReport {
  readonly health: UpstreamHealth;
  /** What `health` is said of. */
  readonly healthSeconds: number;
  readonly requests: number;
  /** Within the window, interpolated between the histogram's bounds; null where nothing was asked. */
  readonly p50Seconds: number | null;
  readonly p95Seconds: number | null;
  /** The most frequent first. */
  readonly outcomes: OutcomeReport[];
}

/** What became of the exchanges with TiDB Cloud, from samples in their order, of which the last is of this moment. */
export function upstreamReport(samples: readonly Sample[]): UpstreamReport {
  const first = samples[0];
  const last = samples.at(-1);
  if (first === undefined || last === undefined) throw new Error('There is no sample.');
  const latency = last.latency.map(({ upToSeconds, requests }, index) => {
    return { upToSeconds, requests: requests - (first.latency[index]?.requests ?? 0) };
  });
  return {
    health: healthOf(samples, first, last),
    healthSeconds: HEALTH_MS / 1000,
    requests: latency.at(-1)?.requests ?? 0,
    p50Seconds: quantile(0.5, latency),
    p95Seconds: quantile(0.95, latency),
    outcomes: outcomesOf(samples, first, last),
  };
}

/**
 * The duration that a share of the requests did not exceed, taken to lie evenly between two bounds, as Prometheus does.
 * What is beyond the last finite bound is said to be at it.
 * @param counts cumulative, the last without bound
 */
export function quantile(share: number, counts: readonly LatencyCount[]): number | null {
  const wanted = share * (counts.at(-1)?.requests ?? 0);
  if (wanted === 0) return null;
  let below: LatencyCount = { upToSeconds: 0, requests: 0 };
  for (const count of counts) {
    if (count.requests >= wanted) {
      if (!Number.isFinite(count.upToSeconds)) break;
      const part = (wanted - below.requests) / (count.requests - below.requests);
      return below.upToSeconds + part * (count.upToSeconds - below.upToSeconds);
    }
    below = count;
  }
  return below.upToSeconds;
}

function outcomesOf(samples: readonly Sample[], first: Sample, last: Sample): OutcomeReport[] {
  const outcomes = Object.entries(last.upstream).map(([outcome, total]) => {
    const seen = samples.find(({ upstream }) => upstream[outcome] === total) ?? last;
    const requests = total - (first.upstream[outcome] ?? 0);
    return { outcome, requests, lastSeenSeconds: Math.round((last.atMs - seen.atMs) / 1000) };
  });
  return outcomes.filter(({ requests }) => requests > 0).sort((a, b) => b.requests - a.requests);
}

function healthOf(samples: readonly Sample[], first: Sample, last: Sample): UpstreamHealth {
  const from = samples.findLast(({ atMs }) => last.atMs - atMs >= HEALTH_MS) ?? first;
  let answered = 0;
  let failed = 0;
  for (const [outcome, total] of Object.entries(last.upstream)) {
    const requests = total - (from.upstream[outcome] ?? 0);
    if (isFailure(outcome)) failed += requests;
    else if (outcome !== CALLER_LEFT) answered += requests;
  }
  if (answered + failed === 0) return 'quiet';
  if (failed === 0) return 'answering';
  return answered === 0 ? 'failing' : 'partly';
}

const CALLER_LEFT = 'unavailable_aborted';

/** A caller who goes away and a key's own minute say nothing of whether TiDB Cloud is well. */
function isFailure(outcome: string): boolean {
  return outcome.startsWith('unavailable') && outcome !== CALLER_LEFT;
}
