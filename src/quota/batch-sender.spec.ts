import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../test/support/manual-clock.js';
import { DatabaseError } from '../control-db/database-error.js';
import { BatchSender } from './batch-sender.js';
import { QuotaCounter } from './quota-counter.js';
import type { QuotaDelta, QuotaStore, StoreAnswer } from './quota-store.js';

type Fault = 'lost answer' | 'not stored' | 'unknown, not stored' | 'row gone' | undefined;

/** A database of one table, whose next transactions end as the test says. */
class FaultyStore implements QuotaStore {
  readonly batchRows = 10;
  readonly totals = new Map<string, number>();
  readonly batches = new Map<string, number>();
  readonly tried: string[] = [];
  readonly faults: Fault[] = [];

  register(instanceId: string): Promise<void> {
    this.batches.set(instanceId, this.batches.get(instanceId) ?? 0);
    return Promise.resolve();
  }
  touch(instanceId: string): Promise<boolean> {
    return Promise.resolve(this.batches.has(instanceId));
  }
  leave(instanceId: string): Promise<void> {
    this.batches.delete(instanceId);
    return Promise.resolve();
  }
  async store(instanceId: string, number: number, deltas: readonly QuotaDelta[]): Promise<StoreAnswer> {
    const fault = this.faults.shift();
    this.tried.push(`${instanceId}:${number}:${deltas.map((delta) => delta.calls).join('+')}`);
    if (fault === 'row gone') this.batches.delete(instanceId);
    if (fault === 'not stored') throw new DatabaseError('ER_LOCK_DEADLOCK', 'not-stored');
    if (fault === 'unknown, not stored') throw new DatabaseError('TIMEOUT', 'unknown');
    const last = this.batches.get(instanceId);
    if (last === undefined) return 'missing';
    if (last >= number) return 'already';
    this.batches.set(instanceId, number);
    for (const { tenant, calls } of deltas) this.totals.set(tenant, (this.totals.get(tenant) ?? 0) + calls);
    if (fault === 'lost answer') throw new DatabaseError('ECONNRESET', 'unknown');
    return 'stored';
  }
  survey() {
    return Promise.resolve({ nowMs: 0, liveInstances: 1 });
  }
  changedTotals() {
    return Promise.resolve([]);
  }
  totalsOf() {
    return Promise.resolve([]);
  }
}

function setUp() {
  const store = new FaultyStore();
  const counter = new QuotaCounter(new ManualClock(), () => 1_000);
  const dropped: number[] = [];
  let ids = 0;
  const sender = new BatchSender(
    store,
    counter.outbox,
    () => `id${(ids += 1)}`,
    (calls) => dropped.push(calls),
  );
  const call = (times: number, tenant = 't') => {
    for (let n = 0; n < times; n += 1) counter.tryCount(tenant);
  };
  const flush = async () => {
    await sender.prepare();
    counter.outbox.seal();
    const rows = counter.outbox.take(10);
    return rows.length === 0 ? undefined : sender.send(rows);
  };
  return { store, counter, sender, dropped, call, flush };
}

describe('batches', () => {
  it('a batch whose answer was lost is sent again under its number and counted once', async () => {
    const { store, counter, sender, call, flush } = setUp();
    store.faults.push('lost answer');
    call(3);
    await expect(flush()).rejects.toThrow('ECONNRESET');
    expect(sender.isUncertain).toBe(true);
    call(2);
    expect(counter.used('t')).toBe(5);
    await flush();
    expect(store.tried).toEqual(['id1:1:3', 'id1:1:3', 'id1:2:2']);
    expect(store.totals.get('t')).toBe(5);
    expect(counter.used('t')).toBe(5);
  });

  it('a batch of unknown outcome that was not stored is stored by the second try', async () => {
    const { store, call, flush } = setUp();
    store.faults.push('unknown, not stored');
    call(3);
    await expect(flush()).rejects.toThrow('TIMEOUT');
    await flush();
    expect(store.tried).toEqual(['id1:1:3', 'id1:1:3']);
    expect(store.totals.get('t')).toBe(3);
  });

  it('n+1 is not sent before n is known to be stored', async () => {
    const { store, call, flush } = setUp();
    store.faults.push('unknown, not stored', 'not stored', 'unknown, not stored', 'lost answer');
    call(1);
    for (let n = 0; n < 4; n += 1) {
      await expect(flush()).rejects.toThrow('control database');
      call(1);
    }
    await flush();
    expect(store.tried).toEqual([...Array.from({ length: 5 }, () => 'id1:1:1'), 'id1:2:4']);
    expect(store.totals.get('t')).toBe(5);
  });

  it('calls of a batch that was certainly not stored are unsent again, and no number is spent', async () => {
    const { store, counter, sender, call, flush } = setUp();
    store.faults.push('not stored');
    call(3);
    await expect(flush()).rejects.toThrow('ER_LOCK_DEADLOCK');
    expect(sender.isUncertain).toBe(false);
    call(1);
    expect(counter.used('t')).toBe(4);
    await flush();
    expect(store.tried).toEqual(['id1:1:3', 'id1:1:4']);
    expect(store.totals.get('t')).toBe(4);
  });

  it('rows go in the one order in which every instance locks them', async () => {
    const { store, call, flush } = setUp();
    call(1, 'c');
    call(2, 'a');
    call(3, 'b');
    await flush();
    expect(store.tried).toEqual(['id1:1:2+3+1']);
  });

  it("where the instance's row is gone, it takes a new id and sends what was certainly not stored under it", async () => {
    const { store, sender, dropped, call, flush } = setUp();
    call(1);
    await flush();
    store.faults.push('row gone');
    call(3);
    expect(await flush()).toBe('renewed');
    await flush();
    expect(sender.instanceId).toBe('id2');
    expect(store.tried).toEqual(['id1:1:1', 'id1:2:3', 'id2:1:3']);
    expect(store.totals.get('t')).toBe(4);
    expect(dropped).toEqual([]);
  });

  it('a batch of unknown outcome is then dropped and told of, and mints no call here', async () => {
    const { store, counter, dropped, call, flush } = setUp();
    store.faults.push('unknown, not stored', 'row gone');
    call(3);
    await expect(flush()).rejects.toThrow('TIMEOUT');
    call(2);
    await flush();
    expect(dropped).toEqual([3]);
    expect(store.tried.at(-1)).toBe('id2:1:2');
    expect(counter.used('t')).toBe(5);
  });

  it('a number that is stored although it was never sent belongs to a copy of this instance: it takes a new id', async () => {
    const { store, call, flush } = setUp();
    call(1);
    await flush();
    store.batches.set('id1', 2);
    call(3);
    expect(await flush()).toBe('renewed');
    await flush();
    expect(store.totals.get('t')).toBe(4);
    expect(store.tried.at(-1)).toBe('id2:1:3');
  });

  it('an instance that served nothing still shows that it is alive, under a new id if need be', async () => {
    const { store, sender } = setUp();
    await sender.prepare();
    store.batches.clear();
    await sender.touch();
    expect([...store.batches.keys()]).toEqual(['id2']);
  });

  it('an instance that signs off has no row any more, unless a batch of it is still in question', async () => {
    const { store, sender, call, flush } = setUp();
    store.faults.push('unknown, not stored');
    call(3);
    await expect(flush()).rejects.toThrow('TIMEOUT');
    expect(sender.uncertainCalls).toBe(3);
    await sender.leave();
    expect([...store.batches]).toEqual([['id1', 0]]);
    await flush();
    expect([sender.uncertainCalls, store.totals.get('t')]).toEqual([0, 3]);
    await sender.leave();
    expect([...store.batches]).toEqual([]);
    expect(sender.isReady).toBe(false);
  });
});
