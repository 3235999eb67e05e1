import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { type ScratchDatabase, SERVER_KINDS } from '../support/control-databases.js';
import { call, type QuotaApp, startQuota, tenantName } from '../support/quota-app.js';
import { TcpProxy } from '../support/tcp-proxy.js';
import { waitUntil } from '../support/wait-until.js';

const T = tenantName(1);

function told(app: QuotaApp) {
  return {
    events: app.events.map((event) => event.event),
    lines: app.logLines.filter((line) => line.includes('Quota persistence')).map((line) => line.split(' ')[0]),
  };
}

describe.each(SERVER_KINDS)('an outage of $title', ({ available, create }) => {
  describe.skipIf(!available)('as the server lives through it', () => {
    let scratch: ScratchDatabase;
    let proxy: TcpProxy;
    const running: QuotaApp[] = [];

    const start = async (flushSeconds = 1) => {
      const app = await startQuota({ url: proxy.url(scratch.url), flushSeconds });
      running.push(app);
      return app;
    };
    const stored = async () => {
      const rows = await scratch.query('SELECT calls FROM quota_usage');
      return rows.reduce((sum, row) => sum + Number(row['calls']), 0);
    };
    const recovered = (app: QuotaApp) => waitUntil('recovered', () => !app.quota.status(T).persistenceDegraded);

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

    it.each(['refuse', 'hang'] as const)('boots while it can only %s, and recovers by itself', async (mode) => {
      const prepared = await start();
      await prepared.stop();
      proxy.set(mode);
      const app = await start();
      expect(app.quota.status(T).persistenceDegraded).toBe(true);
      expect(app.health()).toMatchObject({ degraded: true, connected: false });
      expect(app.gauge('tidb_mcp_quota_persistence_degraded')).toBe(1);
      expect(call(app, T, 5)).toBe(5);
      proxy.set('forward');
      await recovered(app);
      await waitUntil('everything is stored', async () => (await stored()) === 5);
      expect(app.health()).toMatchObject({ degraded: false, connected: true });
      expect(app.gauge('tidb_mcp_quota_persistence_degraded')).toBe(0);
      expect(told(app)).toEqual({ events: ['quota_degraded', 'quota_recovered'], lines: ['warn', 'log'] });
    });

    it.each(['refuse', 'hang'] as const)(
      'serves on while it can only %s, and books everything afterwards',
      async (mode) => {
        const app = await start();
        expect(app.quota.status(T).persistenceDegraded).toBe(false);
        call(app, T, 5);
        await waitUntil('stored', async () => (await stored()) === 5);
        proxy.set(mode);
        call(app, T, 4);
        await waitUntil('degraded', () => app.quota.status(T).persistenceDegraded);
        expect(app.health()).toMatchObject({ degraded: true, connected: false });
        expect(call(app, T, 2_000)).toBe(991);
        proxy.set('forward');
        await recovered(app);
        // The flush that ended it may have begun before the last calls were made.
        await waitUntil('everything is stored', async () => (await stored()) === 1_000);
        expect(app.health()).toMatchObject({ degraded: false, connected: true });
        expect(told(app)).toEqual({ events: ['quota_degraded', 'quota_recovered'], lines: ['warn', 'log'] });
      },
    );

    it('an outage that hangs again and again uses up neither connections nor patience', async () => {
      const app = await start();
      for (let round = 0; round < 2; round += 1) {
        proxy.set('hang');
        await Promise.allSettled(
          Array.from({ length: 12 }, () => app.database.run((manager) => manager.query('SELECT 1'))),
        );
        proxy.set('forward');
        call(app, T, 1);
        await waitUntil('stored', async () => (await stored()) === round + 1);
      }
    });

    it('a server that lets us in and then says nothing more is given up, and leaves nothing running', async () => {
      const stalled = proxy.stallOn('version()');
      const app = await start();
      await stalled;
      expect(app.quota.status(T).persistenceDegraded).toBe(true);
      call(app, T, 2);
      await recovered(app);
      await waitUntil('everything is stored', async () => (await stored()) === 2);
      await app.stop();
      // A pool that nobody ended looks after its connections once a second, for ever.
      const armed = vi.spyOn(globalThis, 'setTimeout');
      await new Promise((resolve) => setTimeout(resolve, 1_500));
      expect(armed.mock.calls.map(([, delayMs]) => delayMs)).toEqual([1_500]);
      armed.mockRestore();
    });

    it('a database that was replaced by an empty one is migrated again', async () => {
      const app = await start();
      call(app, T, 2);
      await waitUntil('stored', async () => (await stored()) === 2);
      for (const table of ['quota_usage', 'quota_instance', 'tidb_mcp_migration']) {
        await scratch.query(`DROP TABLE ${table}`);
      }
      call(app, T, 3);
      await waitUntil('stored again', async () => (await stored().catch(() => 0)) === 3);
      await recovered(app);
    });

    it('what goes wrong is told by its code, and never with a user, a password or a statement', async () => {
      const url = new URL(proxy.url(scratch.url));
      url.username = 'Zq-user';
      url.password = 'Zq-password';
      proxy.set('refuse');
      const app = await startQuota({ url: url.href, flushSeconds: 1 });
      running.push(app);
      await waitUntil('degraded', () => app.quota.status(T).persistenceDegraded);
      proxy.set('forward');
      await new Promise((resolve) => setTimeout(resolve, 500));
      expect(app.logLines.length).toBeGreaterThan(0);
      expect([...app.logLines, ...app.events.map((event) => JSON.stringify(event))].join('\n')).not.toMatch(
        /Zq|SELECT/,
      );
    });
  });
});

describe('an embedded control database', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'quota-outage-'));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  it('gets its folder made', async () => {
    const app = await startQuota({ url: `sqlite:${folder}/not/there/yet/control.db` });
    expect(app.quota.status(T).persistenceDegraded).toBe(false);
    await app.stop();
  });

  it('that can not be opened leaves the server counting in memory, until it can', async () => {
    const path = join(folder, 'control.db');
    mkdirSync(path);
    const app = await startQuota({ url: `sqlite:${path}`, flushSeconds: 1 });
    expect(app.quota.status(T).persistenceDegraded).toBe(true);
    expect(call(app, T, 3)).toBe(3);
    rmSync(path, { recursive: true });
    await waitUntil('recovered', () => !app.quota.status(T).persistenceDegraded);
    expect(app.flusher.hasUnsent).toBe(false);
    await app.stop();
  });
});
