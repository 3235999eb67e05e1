import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Sample } from './history.js';
import { quantile, upstreamReport } from './upstream-report.js';

const BOUNDS = [0.1, 0.5, 1, Number.POSITIVE_INFINITY];
const counts = (...requests: number[]) => BOUNDS.map((upToSeconds, i) => ({ upToSeconds, requests: requests[i] ?? 0 }));
const sample = (atMs: number, upstream: Record<string, number>, latency = counts(0, 0, 0, 0)): Sample => ({
  atMs,
  refused: { preauth: 0, tenant: 0, quota: 0, global: 0 },
  admitted: 0,
  clientIp: { header: 0, forwarded: 0, socket: 0, fallback: 0 },
  upstream,
  latency,
});

describe('A quantile of a histogram', () => {
  it('lies between the bounds of its bucket, as if the requests were spread evenly', () => {
    expect(quantile(0.5, counts(0, 10, 10, 10))).toBeCloseTo(0.3);
    expect(quantile(0.95, counts(90, 100, 100, 100))).toBeCloseTo(0.3);
    expect(quantile(1, counts(10, 10, 10, 10))).toBeCloseTo(0.1);
  });

  it('is at the last bound for what took longer than all of them, and nothing where nothing was asked', () => {
    expect(quantile(0.95, counts(0, 0, 0, 4))).toBe(1);
    expect(quantile(0.5, counts(0, 0, 0, 0))).toBeNull();
  });

  it('grows with its share and stays within the bounds', () => {
    const buckets = fc.array(fc.nat(1000), { minLength: 4, maxLength: 4 });
    fc.assert(
      fc.property(buckets, fc.double({ min: 0.01, max: 1, noNaN: true }), (each, share) => {
        let sum = 0;
        const cumulative = counts(...each.map((one) => (sum += one)));
        const at = quantile(share, cumulative);
        if (sum === 0) return at === null;
        const half = quantile(share / 2, cumulative) ?? Number.NaN;
        return at !== null && at >= 0 && at <= 1 && half <= at;
      }),
    );
  });
});

describe('The upstream report', () => {
  it('counts within the window only, and says when each outcome was last seen', () => {
    const report = upstreamReport([
      sample(0, { ok: 100, not_found: 3 }, counts(100, 103, 103, 103)),
      sample(5_000, { ok: 104, not_found: 3, unavailable_timeout: 1 }, counts(104, 107, 107, 108)),
      sample(65_000, { ok: 110, not_found: 3, unavailable_timeout: 1 }, counts(104, 113, 113, 114)),
    ]);
    expect(report.outcomes).toEqual([
      { outcome: 'ok', requests: 10, lastSeenSeconds: 0 },
      { outcome: 'unavailable_timeout', requests: 1, lastSeenSeconds: 60 },
    ]);
    expect(report.requests).toBe(11);
    expect(report.p50Seconds).toBeCloseTo(0.2);
    expect(report.p95Seconds).toBe(1);
  });

  it.each([
    [{}, 'quiet'],
    [{ unavailable_aborted: 3 }, 'quiet'],
    [{ ok: 1, rejected: 2, rate_limited: 1 }, 'answering'],
    [{ ok: 1, unavailable_status: 1 }, 'partly'],
    [{ unavailable_timeout: 2, unavailable_aborted: 1 }, 'failing'],
  ])('with %j in the last minute says that TiDB Cloud is %s', (upstream: Record<string, number>, health) => {
    expect(upstreamReport([sample(0, {}), sample(30_000, upstream)]).health).toBe(health);
  });

  it('forgets a failure of more than a minute ago', () => {
    const failed = { unavailable_timeout: 5 };
    const report = upstreamReport([sample(0, {}), sample(5_000, failed), sample(70_000, { ...failed, ok: 1 })]);
    expect(report.health).toBe('answering');
  });
});
