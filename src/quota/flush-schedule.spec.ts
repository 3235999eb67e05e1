import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../test/support/manual-clock.js';
import { FlushSchedule } from './flush-schedule.js';

const instants = fc.integer({ min: Date.UTC(2026, 0, 1), max: Date.UTC(2027, 0, 1) });
const intervals = fc.integer({ min: 1, max: 315_360_000 }).map((seconds) => seconds * 1_000);
const randoms = fc.double({ min: 0, max: 0.999_999, noNaN: true });

describe('flushes', () => {
  it('are due at multiples of the interval of the UTC clock, plus the lesser of a second and a tenth of it', () => {
    fc.assert(
      fc.property(instants, intervals, randoms, (utcMs, intervalMs, random) => {
        const schedule = new FlushSchedule(new ManualClock(utcMs), intervalMs, () => random);
        const jitterMs = random * Math.min(1_000, intervalMs / 10);
        const waitMs = schedule.untilFlushMs();
        expect(waitMs).toBeGreaterThan(0);
        expect(waitMs).toBeLessThanOrEqual(intervalMs + jitterMs);
        const rest = (utcMs + waitMs - jitterMs) % intervalMs;
        expect(Math.min(rest, intervalMs - rest)).toBeLessThan(0.01);
      }),
    );
  });

  it('serve no multiple twice when a timer fires a moment early', () => {
    const clock = new ManualClock(Date.UTC(2026, 0, 1) + 29_000);
    const schedule = new FlushSchedule(clock, 30_000, () => 0);
    expect(schedule.untilFlushMs()).toBe(1_000);
    clock.advance(999);
    expect(schedule.untilFlushMs()).toBe(30_000);
    clock.advance(30_001);
    expect(schedule.untilFlushMs()).toBe(30_000);
  });

  it('go on an interval later at the most, however the wall clock steps', () => {
    fc.assert(
      fc.property(fc.array(instants, { minLength: 1, maxLength: 20 }), randoms, (steps, random) => {
        const clock = new ManualClock();
        const schedule = new FlushSchedule(clock, 30_000, () => random);
        for (const utcMs of steps) {
          clock.setUtc(utcMs);
          const waitMs = schedule.untilFlushMs();
          expect(waitMs).toBeGreaterThan(0);
          expect(waitMs).toBeLessThanOrEqual(31_000);
        }
      }),
    );
  });

  it('are followed by a read after the last instance has pushed, and by one more when a slow push must have ended', () => {
    const clock = new ManualClock(Date.UTC(2026, 0, 1) + 29_900);
    const schedule = new FlushSchedule(clock, 30_000, () => 0.5);
    clock.advance(schedule.untilFlushMs());
    expect(schedule.untilReadsMs()).toEqual([1_000, 3_000]);
    clock.advance(2_000);
    expect(schedule.untilReadsMs()).toEqual([0, 1_000]);
  });

  it("leave a further read out where the next flush's own read comes sooner", () => {
    const clock = new ManualClock(Date.UTC(2026, 0, 1) + 900);
    const schedule = new FlushSchedule(clock, 1_000, () => 0);
    clock.advance(schedule.untilFlushMs());
    expect(schedule.untilReadsMs()).toEqual([600]);
  });

  it('count an instance as live for three intervals', () => {
    expect(new FlushSchedule(new ManualClock(), 30_000, () => 0).aliveMs).toBe(90_000);
  });
});
