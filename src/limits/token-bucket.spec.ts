import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { afterGivingBack, afterTaking, bucketRate, retryAfterSeconds, waitMs } from './token-bucket.js';

const rates = fc.record({
  requestsPerSecond: fc.double({ min: 0.01, max: 1000, noNaN: true }),
  burst: fc.integer({ min: 1, max: 1000 }),
});
const pauses = fc.array(fc.double({ min: 0, max: 5000, noNaN: true }), { minLength: 1, maxLength: 200 });

describe('A token bucket', () => {
  it('lets a burst through at once and then one request per interval', () => {
    const rate = bucketRate(5, 20);
    let fullAt = 0;
    let admitted = 0;
    for (; waitMs(fullAt, 1000, rate) === 0; admitted += 1) fullAt = afterTaking(fullAt, 1000, rate);
    expect(admitted).toBe(20);
    expect(waitMs(fullAt, 1000, rate)).toBeCloseTo(200);
    expect(waitMs(fullAt, 1200, rate)).toBe(0);
  });

  it('never admits more than burst + rate × t in any window, whatever the pauses between the requests', () => {
    fc.assert(
      fc.property(rates, pauses, ({ requestsPerSecond, burst }, gaps) => {
        const rate = bucketRate(requestsPerSecond, burst);
        let now = 1e6;
        let fullAt = 0;
        const admitted: number[] = [];
        for (const gap of gaps) {
          now += gap;
          if (waitMs(fullAt, now, rate) > 0) continue;
          fullAt = afterTaking(fullAt, now, rate);
          admitted.push(now);
        }
        admitted.forEach((start, first) => {
          admitted.slice(first).forEach((end, more) => {
            const allowed = burst + ((end - start + 0.01) * requestsPerSecond) / 1000;
            expect(more + 1).toBeLessThanOrEqual(allowed);
          });
        });
      }),
    );
  });

  it('tells a wait after which the same request is let through', () => {
    fc.assert(
      fc.property(
        rates,
        fc.double({ min: 0, max: 1, noNaN: true }),
        pauses,
        ({ requestsPerSecond, burst }, part, gaps) => {
          const rate = bucketRate(requestsPerSecond, burst);
          const needed = 1 + (burst - 1) * part;
          let now = 1e6;
          let fullAt = 0;
          for (const gap of gaps) {
            now += gap / 100;
            const wait = waitMs(fullAt, now, rate, needed);
            if (wait === 0) fullAt = afterTaking(fullAt, now, rate);
            else {
              const seconds = retryAfterSeconds(wait);
              expect(Number.isInteger(seconds) && seconds >= 1).toBe(true);
              expect(waitMs(fullAt, now + seconds * 1000, rate, needed)).toBe(0);
            }
          }
        },
      ),
    );
  });

  it('rounds a wait up to whole seconds and says 1 at least', () => {
    expect([0.4, 1000, 1000.5, 2000].map(retryAfterSeconds)).toEqual([1, 1, 2, 2]);
  });

  it('is as if a token that was given back had never been taken', () => {
    fc.assert(
      fc.property(rates, fc.double({ min: -5000, max: 5000, noNaN: true }), ({ requestsPerSecond, burst }, ahead) => {
        const rate = bucketRate(requestsPerSecond, burst);
        const now = 1e6;
        // A token is only taken of a bucket that has one.
        const before = Math.min(Math.max(now, now + ahead), now + (burst - 1) * rate.intervalMs);
        const taken = afterTaking(before, now, rate);
        expect(afterGivingBack(taken, taken, now, rate)).toBeCloseTo(before, 3);
      }),
    );
  });

  it('is never fuller for a token given back late, after the bucket has regained it by itself', () => {
    const rate = bucketRate(1, 5);
    const taken = afterTaking(0, 0, rate);
    const other = afterTaking(taken, 2000, rate);
    expect(afterGivingBack(other, taken, 2000, rate)).toBe(other);
  });
});
