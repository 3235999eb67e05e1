import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { KeyMinute, type MinutePlace } from './key-minute.js';

const told = (remaining: number, reset: number) => ({
  'x-ratelimit-limit-minute': '100',
  'x-ratelimit-remaining-minute': String(remaining),
  'x-ratelimit-reset': String(reset),
});

/** One request that TiDB Cloud answers with what is left. */
function ask(minute: KeyMinute, nowMs: number, remaining: number, share?: string): boolean {
  const place = minute.take(nowMs, share);
  if (typeof place === 'number') return false;
  minute.learn(told(remaining, 30), nowMs, 0);
  place.end(true);
  return true;
}

describe("What is left of a key's minute", () => {
  it('is unknown at first, and then nothing is held back', () => {
    const minute = new KeyMinute();
    for (let n = 0; n < 500; n += 1) expect(typeof minute.take(0)).toBe('object');
  });

  it('is followed to zero, and says in whole seconds when it begins anew', () => {
    const minute = new KeyMinute();
    expect(ask(minute, 0, 1)).toBe(true);
    expect(ask(minute, 100, 0)).toBe(true);
    expect([200, 29_000, 30_099].map((ms) => minute.take(ms))).toEqual([30, 2, 1]);
    expect(typeof minute.take(30_100)).toBe('object');
  });

  it('counts what is still under way, so that a burst does not run past the end', () => {
    const minute = new KeyMinute();
    ask(minute, 0, 3);
    const places = [minute.take(1), minute.take(1), minute.take(1)];
    expect(places.map((place) => typeof place)).toEqual(['object', 'object', 'object']);
    expect(minute.take(1)).toBe(30);
    (places[0] as MinutePlace).end(false);
    expect(typeof minute.take(1)).toBe('object');
  });

  it('is not raised again by an answer that comes late', () => {
    const minute = new KeyMinute();
    ask(minute, 0, 0);
    minute.learn(told(50, 30), 100, 0);
    expect(minute.take(200)).toBe(30);
  });

  it('is nothing after a refusal, for as long as that said', () => {
    const minute = new KeyMinute();
    minute.exhausted(7, 1000);
    expect([1000, 7999].map((ms) => minute.take(ms))).toEqual([7, 1]);
    expect(typeof minute.take(8000)).toBe('object');
  });

  it('says nothing where a header is missing or makes no sense', () => {
    const minute = new KeyMinute();
    minute.learn({ 'x-ratelimit-remaining-minute': '0' }, 0, 0);
    minute.learn({ 'x-ratelimit-remaining-minute': 'none', 'x-ratelimit-reset': '30' }, 0, 0);
    expect(typeof minute.take(0)).toBe('object');
  });

  it('leaves each of many callers at most half of what there is, whoever comes when', () => {
    const order = fc.array(fc.constantFrom('a', 'b', 'c'), { minLength: 1, maxLength: 300 });
    fc.assert(
      fc.property(order, (callers) => {
        const minute = new KeyMinute();
        let left = 100;
        const taken = new Map<string, number>();
        minute.learn(told(left, 60), 0, 0);
        for (const share of callers) {
          const place = minute.take(1, share);
          const mine = taken.get(share) ?? 0;
          expect(typeof place === 'object').toBe((mine + 1) * 2 <= left + mine);
          if (typeof place === 'number') continue;
          left -= 1;
          minute.learn(told(left, 60), 1, 0);
          place.end(true);
          taken.set(share, mine + 1);
        }
        for (const mine of taken.values()) expect(mine).toBeLessThanOrEqual(50);
      }),
    );
  });

  it('leaves each at most half of a new one too, before any answer has told of it, and then begins another', () => {
    const minute = new KeyMinute();
    ask(minute, 0, 0);
    const places = Array.from({ length: 100 }, () => minute.take(30_000, 'a'));
    expect(places.filter((place) => typeof place === 'object')).toHaveLength(50);
    expect(typeof minute.take(30_000, 'b')).toBe('object');
    expect([89_999, 90_000].map((ms) => typeof minute.take(ms, 'a'))).toEqual(['number', 'object']);
  });
});
