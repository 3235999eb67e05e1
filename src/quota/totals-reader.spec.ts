import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../test/support/manual-clock.js';
import { QuotaCounter } from './quota-counter.js';
import type { QuotaStore, QuotaTotal, TotalsPosition } from './quota-store.js';
import { FULL_READ_EVERY_MS, READ_OVERLAP_MS, TotalsReader } from './totals-reader.js';

const START_MS = 1_700_000_000_000;

function setUp(rows = 200_000) {
  const clock = new ManualClock();
  const counter = new QuotaCounter(clock, () => 100, { rows, pastDays: 4 });
  const database = { nowMs: START_MS, live: 1, totals: [] as QuotaTotal[], failOnPage: 0 };
  const asked: (number | string[])[] = [];
  let pages = 0;
  const store = {
    survey: () => Promise.resolve({ nowMs: database.nowMs, liveInstances: database.live }),
    changedTotals: (_day: number, after: TotalsPosition, max: number) => {
      if ((pages += 1) === database.failOnPage) return Promise.reject(new Error('connection lost'));
      if (after.tenant === '') asked.push(after.updatedAtMs);
      const { updatedAtMs, tenant } = after;
      const behind = database.totals.filter(
        (total) => total.updatedAtMs > updatedAtMs || (total.updatedAtMs === updatedAtMs && total.tenant > tenant),
      );
      return Promise.resolve(behind.slice(0, max));
    },
    totalsOf: (_day: number, tenants: readonly string[]) => {
      asked.push([...tenants]);
      return Promise.resolve(database.totals.filter((total) => tenants.includes(total.tenant)));
    },
  } as unknown as QuotaStore;
  const reader = new TotalsReader(store, counter, clock, 90_000, () => Promise.resolve());
  const total = (tenant: string, calls: number, updatedAtMs = START_MS) => ({ tenant, calls, updatedAtMs });
  return { clock, counter, database, asked, reader, total };
}

const ALL = Number.MIN_SAFE_INTEGER;

describe('reading the shared totals', () => {
  it('all of the day first, then what changed since the last read, with an overlap, by the clock of the database', async () => {
    const { reader, database, asked } = setUp();
    await reader.readChanged();
    database.nowMs += 30_000;
    await reader.readChanged();
    database.nowMs += 30_000;
    await reader.readChanged();
    expect(asked).toEqual([ALL, START_MS - READ_OVERLAP_MS, START_MS + 30_000 - READ_OVERLAP_MS]);
  });

  it('all of them again now and then, on a new day, and when the clock of the database has stepped back', async () => {
    const { reader, clock, database, asked } = setUp();
    await reader.readChanged();
    clock.advance(FULL_READ_EVERY_MS - 1);
    await reader.readChanged();
    clock.advance(1);
    await reader.readChanged();
    database.nowMs -= 1;
    await reader.readChanged();
    clock.setUtc(clock.utcMs() + 86_400_000);
    await reader.readChanged();
    expect(asked.map((from) => from === ALL)).toEqual([true, false, true, true, true]);
  });

  it('adopts totals of tenants that were never served here, page by page', async () => {
    const { reader, counter, database, total } = setUp();
    database.totals = Array.from({ length: 2_500 }, (_, n) => total(`t${String(n).padStart(5, '0')}`, n % 100));
    await reader.readChanged();
    expect(counter.rowCount).toBe(2_500);
    expect([counter.used('t00000'), counter.used('t01234'), counter.used('t02499')]).toEqual([0, 34, 99]);
  });

  it('a read that fails half-way is done again in full, and what is lacking meanwhile is known to lack', async () => {
    const { reader, counter, database, asked, total } = setUp();
    const lacking: string[] = [];
    counter.listen({
      dayOpened: () => undefined,
      earlyWanted: () => undefined,
      rowLacking: (tenant) => lacking.push(tenant),
    });
    database.totals = Array.from({ length: 1_500 }, (_, n) => total(`t${String(n).padStart(5, '0')}`, 7));
    database.failOnPage = 2;
    await expect(reader.readChanged()).rejects.toThrow('connection lost');
    counter.noteAccepted('t01400');
    expect(lacking).toEqual(['t01400']);
    await reader.readChanged();
    expect(asked).toEqual([ALL, ALL]);
    expect(counter.used('t01400')).toBe(7);
  });

  it('tenants that memory lacks are read by name, those of past the ceiling too', async () => {
    const { reader, counter, database, asked, total } = setUp(2);
    counter.listen({
      dayOpened: () => undefined,
      earlyWanted: () => undefined,
      rowLacking: (tenant) => reader.want(tenant),
    });
    database.totals = [total('a', 1), total('b', 2), total('c', 3)];
    await reader.readChanged();
    counter.noteAccepted('c');
    expect(reader.wantedCount).toBe(1);
    await reader.readWanted();
    expect(asked.at(-1)).toEqual(['c']);
    expect(counter.used('c')).toBe(3);
    expect(reader.wantedCount).toBe(0);
  });

  it('more wishes than there is room for are granted by a full read', async () => {
    const { reader, asked } = setUp();
    await reader.readChanged();
    for (let n = 0; n <= 10_000; n += 1) reader.want(`t${n}`);
    expect(reader.wantedCount).toBe(10_000);
    await reader.readChanged();
    expect(asked).toEqual([ALL, ALL]);
    expect(reader.wantedCount).toBe(0);
  });

  it('counts the live instances, this one always among them', async () => {
    const { reader, database } = setUp();
    database.live = 0;
    await reader.readChanged();
    expect(reader.liveInstances).toBe(1);
    database.live = 5;
    await reader.readChanged();
    expect(reader.liveInstances).toBe(5);
  });
});
