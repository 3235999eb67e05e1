import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../test/support/manual-clock.js';
import { QuotaCounter } from './quota-counter.js';
import { DAY_MS, utcDayOf } from './utc-day.js';

const T = 'a'.repeat(64);
const MIDNIGHT = Date.UTC(2026, 10, 30);
const TODAY = utcDayOf(MIDNIGHT) - 1;

function counterAt(utcMs: number, limit = 5, rows = 200_000) {
  const clock = new ManualClock(utcMs);
  const counter = new QuotaCounter(clock, () => limit, { rows, pastDays: 4 });
  const told: string[] = [];
  counter.listen({
    dayOpened: (day) => told.push(`day ${day}`),
    rowLacking: (tenant) => told.push(`lacking ${tenant.slice(0, 2)}`),
    earlyWanted: () => told.push('early'),
  });
  const call = (times: number, tenant = T) => Array.from({ length: times }, () => counter.tryCount(tenant));
  const admitted = (times: number, tenant = T) => call(times, tenant).filter((day) => day >= 0).length;
  const store = () => {
    counter.outbox.seal();
    const rowsSent = counter.outbox.take(1_000);
    const sent = rowsSent.map((row) => ({ tenant: row.tenant, utcDay: row.utcDay, calls: row.inFlight }));
    counter.outbox.settleStored(rowsSent);
    return sent;
  };
  return { clock, counter, told, call, admitted, store };
}

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

describe('rows in memory', () => {
  it('make room for a new tenant once the ceiling is reached, but never with calls that are not stored', () => {
    const { counter, call, store, told } = counterAt(MIDNIGHT - 1, 100, 3);
    counter.beginFullRead(TODAY);
    call(1, 'a1');
    call(1, 'a2');
    call(1, 'a3');
    expect(told).toEqual([]);
    call(1, 'a4');
    expect(counter.rowCount).toBe(4);
    store();
    call(1, 'a5');
    call(1, 'a5');
    expect(counter.rowCount).toBeLessThanOrEqual(4);
    expect(store().map(({ tenant }) => tenant)).toEqual(['a5']);
  });

  it('an evicted count is asked for again as soon as its tenant comes back', () => {
    const { counter, call, store, told } = counterAt(MIDNIGHT - 1, 100, 2);
    counter.beginFullRead(TODAY);
    call(4, 'a1');
    call(1, 'a2');
    store();
    // Second chance: the first round only takes the marks of use away.
    call(1, 'a3');
    store();
    call(1, 'a4');
    expect(counter.used('a1')).toBe(0);
    told.length = 0;
    call(1, 'a1');
    expect(told).toContain('lacking a1');
    counter.adopt(TODAY, 'a1', 4);
    expect(counter.used('a1')).toBe(5);
  });

  it('a tenant in use keeps its row while idle ones have to go', () => {
    const { counter, call, store } = counterAt(MIDNIGHT - 1, 1_000, 50);
    for (let n = 0; n < 300; n += 1) {
      call(1, 'busy');
      call(1, `idle${n}`);
      store();
    }
    expect(counter.used('busy')).toBe(300);
    expect(counter.rowCount).toBe(50);
  });

  it('totals of tenants that were never served are not kept past the ceiling, and are read once they are accepted', () => {
    const { counter, told } = counterAt(MIDNIGHT - 1, 100, 2);
    counter.beginFullRead(TODAY);
    for (const tenant of ['a1', 'a2', 'a3']) counter.adopt(TODAY, tenant, 7);
    expect(counter.rowCount).toBe(2);
    expect(counter.used('a3')).toBe(0);
    counter.noteAccepted('a1');
    expect(told).toEqual([]);
    counter.noteAccepted('a3');
    expect(told).toEqual(['lacking a3']);
    counter.adopt(TODAY, 'a3', 7);
    expect(counter.used('a3')).toBe(7);
  });

  it('nothing is asked for where every total of the day is in memory', () => {
    const { counter, call, told } = counterAt(MIDNIGHT - 1);
    counter.beginFullRead(TODAY);
    counter.noteAccepted('a1');
    call(1, 'a2');
    expect(told).toEqual([]);
    counter.abandonFullRead(TODAY);
    call(1, 'a3');
    expect(told).toEqual(['lacking a3']);
  });

  it('a database that is away for long leaves callers uncounted before memory runs out', () => {
    const { counter, call } = counterAt(MIDNIGHT - 1, 100, 10);
    for (let n = 0; n < 30; n += 1) expect(call(1, `t${n}`)).toEqual([TODAY]);
    expect(counter.rowCount).toBe(20);
    expect(counter.uncountedCalls).toBe(10);
  });

  it('a new day is told of, so that its totals are read', () => {
    const { clock, counter, call, told } = counterAt(MIDNIGHT - 1);
    counter.beginFullRead(TODAY);
    clock.advance(1);
    call(1);
    expect(told).toEqual([`day ${TODAY + 1}`, 'lacking aa']);
    clock.setUtc(MIDNIGHT - 1);
    counter.isExhausted(T);
    expect(told).toContain(`day ${TODAY}`);
  });
});

describe('near the edge', () => {
  it('a tenant is flushed early when its unsent calls reach the remaining quota divided by twice the instances', () => {
    const { counter, call, told } = counterAt(MIDNIGHT - 1, 1_000);
    counter.beginFullRead(TODAY);
    counter.setLiveInstances(4);
    counter.adopt(TODAY, T, 900);
    call(11);
    expect(told).toEqual([]);
    // 12 unsent calls, 88 remain, 88 / 8 = 11.
    call(1);
    expect(told).toEqual(['early']);
    expect(counter.outbox.takeEarly(10).map((row) => row.inFlight)).toEqual([12]);
  });

  it('that happens at most once a second', () => {
    const { clock, counter, call } = counterAt(MIDNIGHT - 10_000, 10);
    call(6);
    const first = counter.outbox.takeEarly(10);
    expect(first).toHaveLength(1);
    counter.outbox.settleStored(first);
    call(1);
    clock.advance(999);
    call(1);
    expect(counter.outbox.earlyWaitMs()).toBe(1);
    expect(counter.outbox.takeEarly(10)).toEqual([]);
    clock.advance(1);
    expect(counter.outbox.takeEarly(10)).toHaveLength(1);
    expect(counter.outbox.earlyWaitMs()).toBeUndefined();
  });

  it('refused calls never trigger it, nor does a call that leaves nothing', () => {
    const { counter, call, told } = counterAt(MIDNIGHT - 1, 1_000);
    counter.beginFullRead(TODAY);
    counter.adopt(TODAY, T, 999);
    expect(call(3).filter((day) => day >= 0)).toHaveLength(1);
    expect(told).toEqual([]);
  });
});
