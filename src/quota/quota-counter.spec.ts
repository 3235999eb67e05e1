import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { counterAt, MIDNIGHT, T, TODAY } from '../../test/support/quota-counter.js';
import { Bookmarks } from '../request/bookmarks.js';
import { DAY_MS, utcDayOf } from './utc-day.js';

describe('the daily quota', () => {
  it('admits just as many calls as it says and then refuses, without counting the refused ones', () => {
    const { counter, call } = counterAt(MIDNIGHT - 1_000);
    expect(call(7)).toEqual([TODAY, TODAY, TODAY, TODAY, TODAY, -1, -1]);
    expect(counter.used(T)).toBe(5);
    expect(counter.isExhausted(T)).toBe(true);
    expect(counter.isExhausted('b')).toBe(false);
  });

  it('a call that a later layer refused is given back', () => {
    const { counter, call, admitted } = counterAt(MIDNIGHT - 1_000);
    call(5);
    counter.uncount(T, TODAY);
    expect(counter.isExhausted(T)).toBe(false);
    expect(admitted(3)).toBe(1);
  });

  it('begins anew at UTC midnight, and a call that is given back afterwards is given back to its own day', () => {
    const { clock, counter, call, admitted } = counterAt(MIDNIGHT - 1);
    call(5);
    clock.advance(1);
    expect(counter.used(T)).toBe(0);
    expect(call(1)).toEqual([TODAY + 1]);
    counter.uncount(T, TODAY);
    expect(counter.used(T)).toBe(1);
    expect(admitted(9)).toBe(4);
  });

  it('a flush that straddles midnight books each call on the day it was made', () => {
    const { clock, call, store } = counterAt(MIDNIGHT - 1);
    call(3);
    clock.advance(1);
    call(2);
    expect(store()).toEqual([
      { tenant: T, utcDay: TODAY, calls: 3 },
      { tenant: T, utcDay: TODAY + 1, calls: 2 },
    ]);
  });

  it('a wall clock that steps back reopens no day, and one that steps forth locks nobody out', () => {
    const { clock, counter, call, admitted, store } = counterAt(MIDNIGHT - 1);
    call(5);
    store();
    clock.setUtc(MIDNIGHT + 10 * DAY_MS);
    expect(admitted(9)).toBe(5);
    clock.setUtc(MIDNIGHT - 1);
    expect(counter.isExhausted(T)).toBe(true);
    clock.setUtc(MIDNIGHT);
    expect(admitted(9)).toBe(5);
    clock.setUtc(MIDNIGHT - 1);
    expect(admitted(9)).toBe(0);
  });

  it('however the wall clock steps, no day hands out more than its quota', () => {
    const steps = fc.array(
      fc.record({ day: fc.integer({ min: -2, max: 2 }), calls: fc.integer({ min: 0, max: 4 }), store: fc.boolean() }),
      { maxLength: 60 },
    );
    fc.assert(
      fc.property(steps, (plan) => {
        const { clock, counter, call, store } = counterAt(MIDNIGHT);
        const perDay = new Map<number, number>();
        for (const step of plan) {
          clock.setUtc(MIDNIGHT + step.day * DAY_MS);
          for (const day of call(step.calls)) perDay.set(day, (perDay.get(day) ?? 0) + 1);
          if (step.store) store();
          counter.prune();
        }
        perDay.delete(-1);
        for (const admitted of perDay.values()) expect(admitted).toBeLessThanOrEqual(5);
      }),
    );
  });

  it('counts the same for callers whose rows are remembered, whatever goes out of memory meanwhile', () => {
    const tenants = ['a', 'b', 'c', 'd'];
    const step = fc.record({
      what: fc.constantFrom('call', 'call', 'call', 'store', 'adopt', 'prune', 'giveBack'),
      tenant: fc.constantFrom(...tenants),
      calls: fc.integer({ min: 0, max: 4 }),
      day: fc.constantFrom(0, 0, 0, 1, -1, 9),
      marked: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 80, size: 'max' }), (plan) => {
        const [plain, remembering] = [counterAt(MIDNIGHT, 5, 2), counterAt(MIDNIGHT, 5, 2)];
        const bookmarks = new Map(tenants.map((tenant) => [tenant, new Bookmarks()]));
        let day = utcDayOf(MIDNIGHT);
        for (const { what, tenant, calls, day: leap, marked } of plan) {
          day += leap;
          const marks = [undefined, marked ? bookmarks.get(tenant) : undefined];
          const seen = [plain, remembering].map(({ clock, counter, store, told }, i) => {
            clock.setUtc(day * DAY_MS);
            if (what === 'call') return counter.tryCount(tenant, 'v1', marks[i]);
            if (what === 'store') return store();
            if (what === 'adopt') counter.adopt(day, tenant, calls);
            if (what === 'prune') clock.advance(DAY_MS);
            if (what === 'prune') counter.prune();
            if (what === 'giveBack' && counter.used(tenant) > 0) counter.uncount(tenant, day);
            return [counter.rowCount, counter.used(tenant), told.splice(0)];
          });
          expect(seen[1]).toEqual(seen[0]);
        }
      }),
      { numRuns: 300 },
    );
  });

  it('finds no row of a day that has left memory, however well it is remembered', () => {
    const { clock, counter, store, told } = counterAt(MIDNIGHT);
    const bookmarks = new Bookmarks();
    counter.tryCount(T, 'v1', bookmarks);
    counter.tryCount(T, 'v1', bookmarks);
    store();
    clock.setUtc(MIDNIGHT + DAY_MS);
    counter.currentDay();
    clock.advance(DAY_MS);
    counter.prune();
    expect(counter.rowCount).toBe(0);
    clock.setUtc(MIDNIGHT);
    told.length = 0;
    counter.tryCount(T, 'v1', bookmarks);
    expect([counter.rowCount, counter.used(T), told]).toEqual([1, 1, [`day ${TODAY + 1}`, 'lacking aa']]);
  });

  it("yesterday's counts stay until the next midnight, and unsent ones until they are stored", () => {
    const { clock, counter, call, store } = counterAt(MIDNIGHT - 1, 5);
    call(2);
    clock.advance(1);
    call(1, 'b'.repeat(64));
    clock.advance(DAY_MS - 1);
    counter.prune();
    expect(counter.rowCount).toBe(2);
    clock.advance(1);
    counter.currentDay();
    expect(counter.rowCount).toBe(2);
    store();
    counter.prune();
    expect(counter.rowCount).toBe(1);
  });

  it('a total of other instances counts, lower or higher than what was known, and unsent calls on top of it', () => {
    const { counter, call, store } = counterAt(MIDNIGHT - 1, 10);
    call(2);
    store();
    call(1);
    counter.adopt(TODAY, T, 8);
    expect(counter.used(T)).toBe(9);
    counter.adopt(TODAY, T, 3);
    expect(counter.used(T)).toBe(4);
    counter.adopt(TODAY, 'b', 10);
    expect(counter.isExhausted('b')).toBe(true);
  });

  it('a call counts once, wherever it is on its way', () => {
    const { counter, call } = counterAt(MIDNIGHT - 1, 10);
    call(3);
    counter.outbox.seal();
    const rows = counter.outbox.take(10);
    call(2);
    expect(counter.used(T)).toBe(5);
    counter.outbox.settleReturned(rows);
    expect(counter.used(T)).toBe(5);
    counter.outbox.seal();
    const again = counter.outbox.take(10);
    expect(again.map((row) => row.inFlight)).toEqual([5]);
    counter.outbox.settleStored(again);
    expect(counter.used(T)).toBe(5);
    expect(counter.outbox.size).toBe(0);
  });
});
