import { describe, expect, it } from 'vitest';
import { counterAt, MIDNIGHT, T, TODAY } from '../../test/support/quota-counter.js';

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
    call(1, 'bb');
    expect(told).toContain('lacking bb');
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
