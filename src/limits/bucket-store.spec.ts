import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BucketStore } from './bucket-store.js';
import { bucketRate } from './token-bucket.js';

const rate = bucketRate(1, 2);

describe('A bounded store of buckets', () => {
  it('has no room for a new key while every bucket in it still has to refill', () => {
    const store = new BucketStore(rate, 2);
    store.take('a', 0);
    store.take('b', 0);
    expect(store.hasRoom(999)).toBe(false);
    expect(store.firstRefillMs(400)).toBe(600);
    expect(store.hasRoom(1000)).toBe(true);
  });

  it('drops the bucket that refilled first and keeps the one that did not', () => {
    const store = new BucketStore(rate, 2);
    store.take('a', 0);
    store.take('a', 0);
    store.take('b', 0);
    expect(store.hasRoom(1500)).toBe(true);
    store.take('c', 1500);
    expect([store.has('a'), store.has('b'), store.has('c')]).toEqual([true, false, true]);
    expect(store.wait('a', 900)).toBeGreaterThan(0);
  });

  it('shrinks again after a flood', () => {
    const store = new BucketStore(rate, 5000);
    for (let i = 0; i < 5000; i += 1) store.take(`flood-${i}`, 0);
    expect(store.size).toBe(5000);
    for (let i = 0; i < 4000; i += 1) store.take(`later-${i % 10}-${i}`, 10_000 + i * 2000);
    expect(store.size).toBeLessThan(1100);
  });

  it('agrees with a map without a ceiling on every answer, and says full exactly when nothing in it has refilled', () => {
    const step = fc.record({
      key: fc.integer({ min: 0, max: 11 }),
      pause: fc.integer({ min: 0, max: 700 }),
      back: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 8 }), fc.array(step, { maxLength: 300 }), (max, steps) => {
        const store = new BucketStore(rate, max);
        const model = new Map<string, number>();
        let now = 0;
        for (const { key: number, pause, back } of steps) {
          now += pause;
          const key = String(number);
          for (const [known, fullAt] of model) if (fullAt <= now) model.delete(known);
          if (!model.has(key)) {
            expect(store.has(key) || store.hasRoom(now)).toBe(model.size < max);
            if (model.size >= max) continue;
          }
          const fullAt = model.get(key) ?? now;
          const waits = fullAt - now > rate.intervalMs;
          expect(store.wait(key, now) > 0).toBe(waits);
          if (waits) continue;
          const taken = store.take(key, now);
          if (back) store.giveBack(key, taken, now);
          else model.set(key, fullAt + rate.intervalMs);
          store.prune(now);
          expect(store.size).toBe([...model.values()].filter((time) => time > now).length);
        }
      }),
    );
  });
});
