import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { backoffMs } from './backoff.js';

describe('the wait before the next try', () => {
  it('doubles up to its ceiling', () => {
    expect([0, 1, 2, 3, 4, 5].map((attempt) => backoffMs(attempt, 250, 3_000, 0))).toEqual([
      250, 500, 1_000, 2_000, 3_000, 3_000,
    ]);
  });

  it('is never longer than the ceiling and never gone, however often it failed', () => {
    fc.assert(
      fc.property(fc.nat(), fc.double({ min: 0, max: 0.999_999, noNaN: true }), (attempt, random) => {
        const waitMs = backoffMs(attempt, 250, 15_000, random);
        expect(waitMs).toBeGreaterThan(180);
        expect(waitMs).toBeLessThanOrEqual(15_000);
      }),
    );
  });
});
