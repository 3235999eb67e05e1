import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../test/support/manual-clock.js';
import { NearestToQuota } from './nearest-to-quota.js';
import { DayRows } from './quota-row.js';

function dayOf(used: Record<string, number>): DayRows {
  const day = new DayRows(1);
  for (const [tenant, calls] of Object.entries(used)) day.add(tenant).shared = calls;
  return day;
}

function nearest(day: DayRows, limitOf: (tenant: string) => number = () => 100) {
  const clock = new ManualClock();
  const seen = { walks: 0, pauses: 0 };
  const rows = () => {
    seen.walks += 1;
    return day.rows;
  };
  const pause = async () => void (seen.pauses += 1);
  return { finder: new NearestToQuota(clock, rows, limitOf, pause), clock, seen };
}

describe('The tenants nearest to their quota', () => {
  it('are ordered by what share of their own limit they have used', async () => {
    const { finder } = nearest(dayOf({ a: 50, b: 60, c: 99, d: 0 }), (tenant) => (tenant === 'b' ? 60 : 100));
    expect(await finder.read()).toEqual({
      tenants: [
        { tenant: 'b', used: 60, limit: 60 },
        { tenant: 'c', used: 99, limit: 100 },
        { tenant: 'a', used: 50, limit: 100 },
      ],
      tenantsToday: 3,
    });
  });

  it('are the first ten of all, however many there are and in whatever order they came', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(200), { maxLength: 60 }), async (calls) => {
        const { finder } = nearest(dayOf(Object.fromEntries(calls.map((used, i) => [`t${i}`, used]))));
        const found = await finder.read();
        const most = calls.filter((used) => used > 0).sort((a, b) => b - a);
        expect(found.tenants.map(({ used }) => used)).toEqual(most.slice(0, 10));
        expect(found.tenantsToday).toBe(most.length);
      }),
    );
  });

  it('count what is not stored yet', async () => {
    const day = dayOf({ a: 1 });
    const row = day.add('b');
    row.inFlight = 2;
    row.pending = 3;
    expect((await nearest(day).finder.read()).tenants[0]).toEqual({ tenant: 'b', used: 5, limit: 100 });
  });

  it('are looked for at most once a second, whoever asks', async () => {
    const { finder, clock, seen } = nearest(dayOf({ a: 1 }));
    await Promise.all([finder.read(), finder.read()]);
    clock.advance(999);
    await finder.read();
    expect(seen.walks).toBe(1);
    clock.advance(1);
    await finder.read();
    expect(seen.walks).toBe(2);
  });

  it('are looked for in slices, between which others have their turn, and in one walk at a time', async () => {
    const day = dayOf(Object.fromEntries(Array.from({ length: 10_000 }, (_, i) => [`t${i}`, 1])));
    const clock = new ManualClock();
    let walks = 0;
    let release = (): void => undefined;
    const rows = () => {
      walks += 1;
      return day.rows;
    };
    let pauses = 0;
    const pause = () => {
      pauses += 1;
      return pauses === 1 ? new Promise<void>((resolve) => (release = resolve)) : Promise.resolve();
    };
    const finder = new NearestToQuota(clock, rows, () => 100, pause);
    const first = finder.read();
    clock.advance(5_000);
    const second = finder.read();
    // What comes in during the walk is not chased: it would never end under a flood of new tenants.
    for (let i = 0; i < 10_000; i += 1) day.add(`late${i}`).shared = 50;
    release();
    expect((await first).tenantsToday).toBe(10_000);
    await second;
    expect(walks).toBe(1);
    expect(pauses).toBe(5);
  });
});
