import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { DATABASE_KINDS, type ScratchDatabase } from '../support/control-databases.js';
import { ManualClock } from '../support/manual-clock.js';
import { call, type QuotaApp, type QuotaAppOptions, startQuota, tenantName } from '../support/quota-app.js';
import { waitUntil } from '../support/wait-until.js';

const T = tenantName(1);
const DAY_MS = 86_400_000;

describe.each(DATABASE_KINDS)('the quota of several instances on $title', ({ available, create }) => {
  describe.skipIf(!available)('as callers meet it', () => {
    let scratch: ScratchDatabase;
    const running: QuotaApp[] = [];

    const start = async (options: Partial<QuotaAppOptions> = {}) => {
      const app = await startQuota({ url: scratch.url, ...options });
      running.push(app);
      return app;
    };
    const push = async (app: QuotaApp) => {
      await app.flusher.flush();
      await app.flusher.read();
    };
    const stored = async () => {
      const rows = await scratch.query('SELECT calls FROM quota_usage ORDER BY utc_day');
      return rows.map((row) => Number(row['calls']));
    };

    beforeAll(async () => {
      scratch = await create();
      await (await startQuota({ url: scratch.url })).stop();
    });
    afterEach(async () => {
      await Promise.all(running.splice(0).map((app) => app.stop()));
      for (const table of ['quota_usage', 'quota_instance']) await scratch.query(`DELETE FROM ${table}`);
    });
    afterAll(async () => {
      await scratch.drop();
    });

    it('deltas, not absolutes: the stored figure is the sum over the instances', async () => {
      const [a, b] = [await start(), await start()];
      call(a, T, 30);
      call(b, T, 12);
      await Promise.all([push(a), push(b)]);
      expect(await stored()).toEqual([42]);
      await Promise.all([push(a), push(b)]);
      expect([a.quota.status(T).used, b.quota.status(T).used]).toEqual([42, 42]);
    });

    it('an instance that has served no traffic still reads on each flush and hands out no fresh allowance', async () => {
      const [a, idle] = [await start({ dailyQuota: 20 }), await start({ dailyQuota: 20 })];
      call(a, T, 20);
      await push(a);
      await push(idle);
      expect(idle.quota.isExhausted(T)).toBe(true);
      expect(call(idle, T, 5)).toBe(0);
    });

    it('an instance that starts later has the day loaded before it listens', async () => {
      const a = await start({ dailyQuota: 20 });
      call(a, T, 19);
      await push(a);
      const later = await start({ dailyQuota: 20 });
      expect(later.quota.status(T)).toMatchObject({ used: 19, remaining: 1 });
    });

    it('instances flush by themselves and converge within one lag', async () => {
      const options = { dailyQuota: 50, flushSeconds: 1 };
      const [a, b] = [await start(options), await start(options)];
      call(a, T, 7);
      call(b, T, 5);
      const both = () => [a, b].every((app) => app.quota.status(T).used === 12);
      await waitUntil('converged', both, 3_700);
      await waitUntil('live', () => [a, b].every((app) => app.quota.liveInstances() === 2));
      expect(a.gauge('tidb_mcp_live_instances')).toBe(2);
      expect(a.quota.instanceId()).not.toBe(b.quota.instanceId());
    });

    it('near the edge a tenant is flushed early, long before the interval is over', async () => {
      const options = { dailyQuota: 100, flushSeconds: 3_600 };
      const [a, b] = [await start(options), await start(options)];
      call(a, T, 60);
      await waitUntil('flushed early', async () => (await stored())[0] === 60);
      call(b, T, 60);
      await waitUntil('adopted early', () => b.quota.status(T).used === 120);
      expect(call(b, T, 1)).toBe(0);
    });

    it('a shutdown stores what was counted, so a rolling restart hands out no fresh budget', async () => {
      const a = await start({ dailyQuota: 30 });
      call(a, T, 30);
      await a.stop();
      running.length = 0;
      expect(await stored()).toEqual([30]);
      expect(call(await start({ dailyQuota: 30 }), T, 1)).toBe(0);
    });

    it('an instance that stops signs off, so a restart does not look like two instances; one that crashes can not', async () => {
      const [a, b] = [await start(), await start()];
      await push(b);
      expect(b.quota.liveInstances()).toBe(2);
      call(a, T, 3);
      await a.stop();
      await push(b);
      expect(b.quota.liveInstances()).toBe(1);
      expect(await stored()).toEqual([3]);
      await (await start()).kill();
      await push(b);
      expect(b.quota.liveInstances()).toBe(2);
    });

    it('a crash loses what was counted since the last flush, and no more', async () => {
      const a = await start();
      call(a, T, 10);
      await push(a);
      call(a, T, 3);
      await a.kill();
      running.length = 0;
      expect(await stored()).toEqual([10]);
    });

    it('a flush that straddles midnight books both days, and the new day begins at zero', async () => {
      const clock = new ManualClock(Date.UTC(2026, 10, 30) - 1);
      const [a, b] = [await start({ clock, dailyQuota: 10 }), await start({ clock, dailyQuota: 10 })];
      call(a, T, 10);
      clock.advance(1);
      expect(call(a, T, 4)).toBe(4);
      await push(a);
      await push(b);
      expect(await stored()).toEqual([10, 4]);
      expect(b.quota.status(T)).toMatchObject({ used: 4, remaining: 6, resetsAt: '2026-12-01T00:00:00.000Z' });
      clock.setUtc(Date.UTC(2026, 10, 30) - 1);
      expect(a.quota.isExhausted(T)).toBe(true);
    });

    it('a wall clock that jumps days ahead and back locks nobody out and mints no call', async () => {
      const clock = new ManualClock(Date.UTC(2026, 10, 29, 12));
      const a = await start({ clock, dailyQuota: 10 });
      call(a, T, 10);
      await push(a);
      clock.setUtc(Date.UTC(2026, 10, 29, 12) + 40 * DAY_MS);
      expect(call(a, T, 3)).toBe(3);
      await push(a);
      clock.setUtc(Date.UTC(2026, 10, 29, 12));
      expect(call(a, T, 3)).toBe(0);
      clock.setUtc(Date.UTC(2026, 10, 30, 12));
      expect(call(a, T, 20)).toBe(10);
      await push(a);
      expect(await stored()).toEqual([10, 10, 3]);
    });

    it('a day that others have counted on already is read as soon as the clock shows it', async () => {
      const ahead = await start({ clock: new ManualClock(Date.UTC(2026, 10, 30) + 500), dailyQuota: 10 });
      call(ahead, T, 10);
      await push(ahead);
      const clock = new ManualClock(Date.UTC(2026, 10, 30) - 1);
      const late = await start({ clock, dailyQuota: 10 });
      expect(late.quota.status(T).used).toBe(0);
      clock.advance(1);
      late.quota.isExhausted(T);
      await waitUntil('the new day is read', () => late.quota.isExhausted(T));
    });

    it("an instance whose row is gone goes on under a new id, and the others' counts stay right", async () => {
      const a = await start();
      const id = a.quota.instanceId();
      call(a, T, 2);
      await push(a);
      await scratch.query('DELETE FROM quota_instance');
      call(a, T, 3);
      await push(a);
      expect(await stored()).toEqual([5]);
      expect(a.quota.instanceId()).not.toBe(id);
      expect(a.quota.status(T).used).toBe(5);
    });

    it('past days are removed in small steps, and today is not', async () => {
      const a = await start({ retentionDays: 2 });
      call(a, T, 2);
      await push(a);
      const today = (await scratch.query('SELECT utc_day FROM quota_usage'))[0]?.['utc_day'];
      const day = today instanceof Date ? today : new Date(`${String(today)}T00:00:00Z`);
      const old = new Date(day.getTime() - 5 * DAY_MS).toISOString().slice(0, 10);
      const values = Array.from({ length: 1_100 }, (_, n) => `('${tenantName(n)}', '${old}', 1, 1)`);
      await scratch.query(`INSERT INTO quota_usage (tenant, utc_day, calls, updated_at) VALUES ${values.join(', ')}`);
      expect(await a.retention.removeOld()).toBe(1_100);
      expect(a.logLines.at(-1)).toMatch(/^log Removed 1100 rows of counts older than 2 days in \d+\.\d s\.$/);
      const told = a.logLines.length;
      expect(await a.retention.removeOld()).toBe(0);
      expect(a.logLines).toHaveLength(told);
      expect(await stored()).toEqual([2]);
    });
  });
});
