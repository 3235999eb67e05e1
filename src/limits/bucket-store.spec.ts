import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Bookmarks } from '../request/bookmarks.js';
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

  it('that is told to keeps refilled buckets until it is full, and then lets the first of them go', () => {
    const store = new BucketStore(rate, 3, 0);
    for (const [at, key] of ['a', 'b', 'c'].entries()) store.take(key, at);
    expect(store.wait('c', 10_000)).toBe(0);
    expect([store.size, store.countUnfilled(1_001), store.countUnfilled(10_000)]).toEqual([3, 1, 0]);
    store.take('d', 10_000);
    expect([store.size, store.has('a'), store.has('b')]).toEqual([3, false, true]);
    store.prune(10_000);
    expect([store.size, store.has('d')]).toEqual([1, true]);
    store.take('e', 10_000);
    store.take('f', 10_000);
    expect(() => store.take('g', 10_000)).toThrow(/beyond its ceiling/);
  });

  it('agrees with a map without a ceiling on every answer, and says full exactly when nothing in it has refilled', () => {
    const step = fc.record({
      key: fc.integer({ min: 0, max: 11 }),
      pause: fc.integer({ min: 0, max: 700 }),
      back: fc.boolean(),
      marked: fc.boolean(),
    });
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 8 }),
        fc.boolean(),
        fc.array(step, { maxLength: 300 }),
        (max, keeps, steps) => {
          const store = keeps ? new BucketStore(rate, max, 0) : new BucketStore(rate, max);
          const model = new Map<string, number>();
          const bookmarks = Array.from({ length: 12 }, () => new Bookmarks());
          let now = 0;
          for (const { key: number, pause, back, marked } of steps) {
            now += pause;
            const key = String(number);
            const mark = marked ? bookmarks[number] : undefined;
            for (const [known, fullAt] of model) if (fullAt <= now) model.delete(known);
            if (!model.has(key)) {
              expect(store.has(key) || store.hasRoom(now)).toBe(model.size < max);
              if (model.size >= max) continue;
            }
            const fullAt = model.get(key) ?? now;
            const waits = fullAt - now > rate.intervalMs;
            expect(store.wait(key, now, rate, mark) > 0).toBe(waits);
            if (waits) continue;
            const taken = store.take(key, now, rate, mark);
            if (back) store.giveBack(key, taken, now);
            else model.set(key, fullAt + rate.intervalMs);
            store.prune(now);
            expect(store.size).toBe([...model.values()].filter((time) => time > now).length);
          }
        },
      ),
    );
  });
});
