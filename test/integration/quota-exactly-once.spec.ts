import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type ScratchDatabase, SERVER_KINDS } from '../support/control-databases.js';
import { call, type QuotaApp, startQuota, tenantName } from '../support/quota-app.js';
import { TcpProxy } from '../support/tcp-proxy.js';
import { waitUntil } from '../support/wait-until.js';

const T = tenantName(1);

describe.each(SERVER_KINDS)('exactly once on $title', ({ available, commit, create }) => {
  describe.skipIf(!available)('through a network that cuts connections', () => {
    let scratch: ScratchDatabase;
    let proxy: TcpProxy;
    const running: QuotaApp[] = [];

    const start = async () => {
      const app = await startQuota({ url: proxy.url(scratch.url) });
      running.push(app);
      return app;
    };
    const stored = async () => {
      const rows = await scratch.query('SELECT calls FROM quota_usage');
      return rows.reduce((sum, row) => sum + Number(row['calls']), 0);
    };
    const settle = (app: QuotaApp) =>
      waitUntil('everything is stored', async () => {
        await app.flusher.flush().catch(() => undefined);
        return !app.flusher.hasUnsent;
      });

    beforeAll(async () => {
      scratch = await create();
    });
    beforeEach(async () => {
      proxy = await TcpProxy.forUrl(scratch.url);
    });
    afterEach(async () => {
      await Promise.all(running.splice(0).map((app) => app.stop()));
      await proxy.close();
      for (const table of ['quota_usage', 'quota_instance']) await scratch.query(`DELETE FROM ${table}`);
    });
    afterAll(async () => {
      await scratch.drop();
    });

    it('the answer to a COMMIT is lost: its calls are stored once', async () => {
      const app = await start();
      call(app, T, 5);
      const cut = proxy.cutOn(commit, 'after');
      await expect(app.flusher.flush()).rejects.toThrow('control database');
      await cut;
      expect(app.flusher.isUncertain).toBe(true);
      expect(await stored()).toBe(5);
      call(app, T, 2);
      await app.flusher.flush();
      expect(await stored()).toBe(7);
      expect(app.quota.status(T).used).toBe(7);
    });

    it('the COMMIT itself is lost: its calls are stored once', async () => {
      const app = await start();
      call(app, T, 5);
      const cut = proxy.cutOn(commit, 'before');
      await expect(app.flusher.flush()).rejects.toThrow('control database');
      await cut;
      expect(app.flusher.isUncertain).toBe(true);
      expect(await stored()).toBe(0);
      await app.flusher.flush();
      expect(await stored()).toBe(5);
    });

    it.each(['START TRANSACTION', 'last_batch', 'INSERT INTO quota_usage'])(
      'a connection cut at %s drops nothing and doubles nothing',
      async (pattern) => {
        for (const when of ['before', 'after'] as const) {
          const app = await start();
          const before = await stored();
          call(app, T, 3);
          const cut = proxy.cutOn(pattern, when);
          await expect(app.flusher.flush()).rejects.toThrow('control database');
          await cut;
          expect(app.flusher.isUncertain).toBe(false);
          expect(await stored()).toBe(before);
          await app.flusher.flush();
          expect(await stored()).toBe(before + 3);
        }
      },
    );

    it('while an outcome is unknown, no total is adopted', async () => {
      const app = await start();
      call(app, T, 5);
      const cut = proxy.cutOn(commit, 'after');
      await expect(app.flusher.flush()).rejects.toThrow('control database');
      await cut;
      expect(await app.flusher.read()).toBe(false);
      expect(app.quota.status(T).used).toBe(5);
      await app.flusher.flush();
      expect(await app.flusher.read()).toBe(true);
      expect(app.quota.status(T).used).toBe(5);
    });

    it('connections cut again and again under load leave the stored total equal to the calls admitted', async () => {
      const apps = [await start(), await start()];
      let admitted = 0;
      const patterns = [commit, 'INSERT INTO quota_usage', 'last_batch'];
      for (let round = 0; round < 12; round += 1) {
        void proxy.cutOn(patterns[round % 3] as string, round % 2 === 0 ? 'after' : 'before');
        for (const app of apps) admitted += call(app, tenantName(round % 4), 7);
        await Promise.allSettled(apps.map((app) => app.flusher.flush()));
      }
      proxy.set('forward');
      await Promise.all(apps.map(settle));
      expect(admitted).toBe(168);
      expect(await stored()).toBe(admitted);
    });

    it('a restart of the database loses no count', async () => {
      const app = await start();
      call(app, T, 5);
      await app.flusher.flush();
      call(app, T, 4);
      proxy.set('refuse');
      await app.flusher.flush().catch(() => undefined);
      call(app, T, 3);
      proxy.set('forward');
      await settle(app);
      expect(await stored()).toBe(12);
    });
  });
});
