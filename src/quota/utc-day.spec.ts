import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DAY_MS, secondsToReset, utcDayEndMs, utcDayOf, utcDayText } from './utc-day.js';

const instants = fc.integer({ min: 0, max: Date.UTC(2100, 0, 1) });

describe('the UTC day of the quota', () => {
  it('Retry-After of a quota refusal is the number of seconds to the next UTC midnight', () => {
    expect(secondsToReset(Date.UTC(2026, 10, 29, 23, 59, 0))).toBe(60);
    expect(secondsToReset(Date.UTC(2026, 10, 29))).toBe(86_400);
    expect(secondsToReset(Date.UTC(2026, 10, 29, 23, 59, 59, 999))).toBe(1);
  });

  it('who waits just that long is in the next day, and no one waits longer than a day', () => {
    fc.assert(
      fc.property(instants, (utcMs) => {
        const seconds = secondsToReset(utcMs);
        expect(Number.isInteger(seconds) && seconds >= 1 && seconds <= 86_400).toBe(true);
        expect(utcDayOf(utcMs + seconds * 1_000)).toBe(utcDayOf(utcMs) + 1);
        expect(utcDayEndMs(utcDayOf(utcMs)) - utcMs).toBeGreaterThan((seconds - 1) * 1_000);
      }),
    );
  });

  it('a day is written as people write it', () => {
    fc.assert(
      fc.property(instants, (utcMs) => {
        expect(utcDayText(utcDayOf(utcMs))).toBe(new Date(utcMs).toISOString().slice(0, 10));
      }),
    );
    expect(utcDayText(0)).toBe('1970-01-01');
    expect(DAY_MS).toBe(24 * 60 * 60 * 1_000);
  });
});
