import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { TelemetrySampler } from './telemetry-sampler.js';

describe('sampled refusals', () => {
  it('each have an event of their own up to the threshold, and are held back over it', () => {
    const sampler = new TelemetrySampler(1, 3);
    expect([0, 1, 2, 3, 999].map((ms) => sampler.count(0, ms))).toEqual([1, 1, 1, 0, 0]);
    expect(sampler.totalHeld).toBe(2);
  });

  it('are told with the next event of the same layer and surface', () => {
    const sampler = new TelemetrySampler(2, 1);
    for (const ms of [0, 10, 20]) sampler.count(0, ms);
    expect(sampler.count(1, 30)).toBe(1);
    expect(sampler.count(0, 1000)).toBe(3);
    expect(sampler.totalHeld).toBe(0);
  });

  it('add up to the refusals, whatever their timing, layer, and luck with the queue', () => {
    const refusal = fc.record({
      slot: fc.nat({ max: 11 }),
      gapMs: fc.nat({ max: 700 }),
      queued: fc.boolean(),
      flush: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 20 }), fc.array(refusal, { maxLength: 300 }), (threshold, refusals) => {
        const sampler = new TelemetrySampler(12, threshold);
        const counted = new Array<number>(12).fill(0);
        const told = new Array<number>(12).fill(0);
        let nowMs = 0;
        for (const { slot, gapMs, queued, flush } of refusals) {
          nowMs += gapMs;
          counted[slot]! += 1;
          const represents = sampler.count(slot, nowMs);
          if (queued) told[slot]! += represents;
          else if (represents > 0) sampler.hold(slot, represents);
          if (flush) told[slot]! += sampler.take(slot);
        }
        expect(sampler.totalHeld).toBe(sum(counted) - sum(told));
        for (let slot = 0; slot < 12; slot += 1) told[slot]! += sampler.take(slot);
        expect(told).toEqual(counted);
        expect(sampler.totalHeld).toBe(0);
      }),
    );
  });

  it('never have more events of their own in a second than twice the threshold, across two windows', () => {
    const gaps = fc.array(fc.nat({ max: 300 }), { maxLength: 200 });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 5 }), gaps, (threshold, gapsMs) => {
        const sampler = new TelemetrySampler(1, threshold);
        const events: number[] = [];
        let nowMs = 0;
        for (const gapMs of gapsMs) {
          nowMs += gapMs;
          if (sampler.count(0, nowMs) > 0) events.push(nowMs);
        }
        for (const start of events) {
          expect(events.filter((ms) => ms >= start && ms < start + 1000).length).toBeLessThanOrEqual(2 * threshold);
        }
      }),
    );
  });
});

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
