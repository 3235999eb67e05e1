import { describe, expect, it } from 'vitest';
import { History, SAMPLE_MS, type Sample, WINDOW_MS } from './history.js';
import { SampleRing } from './sample-ring.js';

const sample = (atMs: number, tenant = 0, admitted = 0): Sample => ({
  atMs,
  refused: { preauth: 0, tenant, quota: 0, global: 0 },
  admitted,
  clientIp: { header: 0, forwarded: 0, socket: 0, fallback: 0 },
  upstream: {},
  latency: [],
});

describe('The ring of samples', () => {
  it('keeps the last ones in their order, and never more than it has places for', () => {
    const ring = new SampleRing<number>(3);
    expect(ring.all()).toEqual([]);
    ring.push(1);
    ring.push(2);
    expect(ring.all()).toEqual([1, 2]);
    for (const value of [3, 4, 5]) ring.push(value);
    expect(ring.all()).toEqual([3, 4, 5]);
    ring.push(6);
    expect(ring.all()).toEqual([4, 5, 6]);
  });
});

describe('The history', () => {
  it('says exactly what was counted in each stretch, and how long ago', () => {
    const history = new History();
    history.add(sample(0, 0, 3));
    history.add(sample(5_000, 7, 4));
    history.add(sample(10_100, 7, 10));
    const report = history.report(12_000);
    expect(report.ageSeconds).toEqual([7, 1.9]);
    expect(report.seconds).toEqual([5, 5.1]);
    expect(report.refused).toEqual({ preauth: [0, 0], tenant: [7, 0], quota: [0, 0], global: [0, 0] });
    expect(report.admitted).toEqual([1, 6]);
  });

  it('makes no rate out of samples that follow each other closely', () => {
    const history = new History();
    history.add(sample(0));
    history.add(sample(0, 1));
    history.add(sample(SAMPLE_MS / 2 - 1, 5));
    expect(history.samples(SAMPLE_MS)).toHaveLength(1);
    history.add(sample(SAMPLE_MS, 9));
    expect(history.report(SAMPLE_MS).refused.tenant).toEqual([9]);
  });

  it('shows a quarter of an hour after a day of samples, and the same number of them', () => {
    const history = new History();
    for (let i = 0; i < 20_000; i += 1) history.add(sample(i * SAMPLE_MS, i));
    const nowMs = 19_999 * SAMPLE_MS + 1_000;
    const report = history.report(nowMs);
    expect(report.seconds.length).toBe(WINDOW_MS / SAMPLE_MS - 1);
    expect(Math.max(...report.ageSeconds)).toBeLessThanOrEqual(report.windowSeconds);
    expect(new Set(report.refused.tenant)).toEqual(new Set([1]));
  });

  it('leaves out what is older than the window after a pause', () => {
    const history = new History();
    history.add(sample(0));
    history.add(sample(SAMPLE_MS, 4));
    expect(history.report(SAMPLE_MS + WINDOW_MS + 1).ageSeconds).toEqual([]);
  });
});
