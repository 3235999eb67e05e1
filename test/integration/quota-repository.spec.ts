import { Logger } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { parseControlDbUrl } from '../../src/config/control-db-url.js';
import { ControlDatabaseService } from '../../src/control-db/control-database.service.js';
import { createControlConnection } from '../../src/control-db/data-source.adapter.js';
import { QuotaRepository } from '../../src/quota/quota.repository.js';
import type { QuotaTotal } from '../../src/quota/quota-store.js';
import { utcDayText } from '../../src/quota/utc-day.js';
import { DATABASE_KINDS, type ScratchDatabase } from '../support/control-databases.js';
import { waitUntil } from '../support/wait-until.js';

Logger.overrideLogger(false);

const DAY = 20_000;
const tenant = (n: number) => n.toString(16).padStart(64, '0');
const START = { updatedAtMs: Number.MIN_SAFE_INTEGER, tenant: '' };

describe.each(DATABASE_KINDS)('the shared totals on $title', ({ available, create }) => {
  describe.skipIf(!available)('as the quota uses them', () => {
    let scratch: ScratchDatabase;
    const open: ControlDatabaseService[] = [];

    const connect = async () => {
      const database = new ControlDatabaseService({ controlDbUrl: scratch.url });
      open.push(database);
      database.open();
      await waitUntil('connected', () => database.isConnected);
      return new QuotaRepository(database);
    };
    const totals = async () => {
      const rows = await scratch.query('SELECT tenant, utc_day, calls FROM quota_usage ORDER BY tenant, utc_day');
      return rows.map((row) => Number(row['calls']));
    };
    const lastBatch = async (instance: string) =>
      (await scratch.query(`SELECT last_batch FROM quota_instance WHERE instance_id = '${instance}'`)).map((row) =>
        Number(row['last_batch']),
      );

    beforeAll(async () => {
      scratch = await create();
    });
    afterEach(async () => {
      for (const table of ['quota_usage', 'quota_instance']) await scratch.query(`DELETE FROM ${table}`);
      await Promise.all(open.splice(0).map((database) => database.onApplicationShutdown()));
    });
    afterAll(async () => {
      await scratch.drop();
    });

    it('deltas of several instances add up, per tenant and day', async () => {
      const repository = await connect();
      for (const id of ['a', 'b']) {
        await repository.register(id);
        const deltas = [
          { tenant: tenant(1), utcDay: DAY, calls: 3 },
          { tenant: tenant(1), utcDay: DAY + 1, calls: 1 },
          { tenant: tenant(2), utcDay: DAY, calls: 5 },
        ];
        expect(await repository.store(id, 1, deltas)).toBe('stored');
      }
      expect(await totals()).toEqual([6, 2, 10]);
    });

    it('a batch that is sent twice under one number is stored once', async () => {
      const repository = await connect();
      await repository.register('a');
      const deltas = [{ tenant: tenant(1), utcDay: DAY, calls: 3 }];
      expect(await repository.store('a', 1, deltas)).toBe('stored');
      expect(await repository.store('a', 1, deltas)).toBe('already');
      expect(await repository.store('a', 2, deltas)).toBe('stored');
      expect(await repository.store('a', 1, deltas)).toBe('already');
      expect(await totals()).toEqual([6]);
      expect(await lastBatch('a')).toEqual([2]);
    });

    it('a batch of an instance without a row is not stored, and that is said', async () => {
      const repository = await connect();
      expect(await repository.store('gone', 7, [{ tenant: tenant(1), utcDay: DAY, calls: 3 }])).toBe('missing');
      expect(await totals()).toEqual([]);
      expect(await repository.touch('gone')).toBe(false);
    });

    it('registering again keeps the number of the last batch', async () => {
      const repository = await connect();
      await repository.register('a');
      await repository.store('a', 4, []);
      await repository.register('a');
      expect(await lastBatch('a')).toEqual([4]);
      // Twice within one millisecond the stamp may stay the same; the row is there all the same.
      expect(await Promise.all([repository.touch('a'), repository.touch('a')])).toEqual([true, true]);
    });

    it('a call that was given back after it had been stored is taken off again', async () => {
      const repository = await connect();
      await repository.register('a');
      await repository.store('a', 1, [{ tenant: tenant(1), utcDay: DAY, calls: 3 }]);
      await repository.store('a', 2, [{ tenant: tenant(1), utcDay: DAY, calls: -1 }]);
      expect(await totals()).toEqual([2]);
    });

    it('stores a batch of 2,000 tenants in one go', async () => {
      const repository = await connect();
      await repository.register('a');
      const deltas = Array.from({ length: 2_000 }, (_, n) => ({ tenant: tenant(n), utcDay: DAY, calls: 1 }));
      expect(await repository.store('a', 1, deltas)).toBe('stored');
      expect(await repository.store('a', 2, deltas)).toBe('stored');
      expect(new Set(await totals())).toEqual(new Set([2]));
    });

    it('reads changed totals page by page, each once, in the order of the stamp and the tenant', async () => {
      const repository = await connect();
      await repository.register('a');
      const deltas = Array.from({ length: 25 }, (_, n) => ({ tenant: tenant(n), utcDay: DAY, calls: n }));
      await repository.store('a', 1, [...deltas, { tenant: tenant(1), utcDay: DAY - 1, calls: 9 }]);
      const seen: QuotaTotal[] = [];
      for (let left = true; left;) {
        const page = await repository.changedTotals(DAY, seen.at(-1) ?? START, 10);
        seen.push(...page);
        left = page.length === 10;
      }
      expect(seen.map((total) => total.tenant)).toEqual(deltas.map((delta) => delta.tenant));
      expect(seen.map((total) => total.calls)).toEqual(deltas.map((delta) => delta.calls));
    });

    it("an incremental read by the database's clock finds what changed since the survey before it", async () => {
      const repository = await connect();
      await repository.register('a');
      await repository.store('a', 1, [{ tenant: tenant(1), utcDay: DAY, calls: 1 }]);
      await waitUntil("the database's clock moves", async () => {
        const [first] = await repository.changedTotals(DAY, START, 1);
        return (await repository.survey(1)).nowMs > (first?.updatedAtMs ?? 0);
      });
      const { nowMs } = await repository.survey(1_000);
      expect(Math.abs(nowMs - Date.now())).toBeLessThan(5_000);
      expect(await repository.changedTotals(DAY, { updatedAtMs: nowMs, tenant: '' }, 10)).toEqual([]);
      await repository.store('a', 2, [{ tenant: tenant(2), utcDay: DAY, calls: 1 }]);
      const changed = await repository.changedTotals(DAY, { updatedAtMs: nowMs, tenant: '' }, 10);
      expect(changed.map((total) => total.tenant)).toEqual([tenant(2)]);
    });

    it('reads the totals of named tenants', async () => {
      const repository = await connect();
      await repository.register('a');
      await repository.store('a', 1, [{ tenant: tenant(1), utcDay: DAY, calls: 4 }]);
      expect(await repository.totalsOf(DAY, [tenant(1), tenant(2)])).toMatchObject([{ tenant: tenant(1), calls: 4 }]);
      expect(await repository.totalsOf(DAY, [])).toEqual([]);
    });

    it('live instances are those seen lately', async () => {
      const repository = await connect();
      await repository.register('a');
      await repository.register('b');
      expect((await repository.survey(60_000)).liveInstances).toBe(2);
      await scratch.query("UPDATE quota_instance SET seen_at = seen_at - 100000 WHERE instance_id = 'b'");
      expect((await repository.survey(60_000)).liveInstances).toBe(1);
      expect((await repository.survey(3 * 10 * 365 * 86_400_000)).liveInstances).toBe(2);
    });

    it("rows of past days go in small steps, by the database's clock, and instances after a week", async () => {
      const repository = await connect();
      const today = Math.floor((await repository.survey(1)).nowMs / 86_400_000);
      await repository.register('a');
      const deltas = [0, 1, 90, 91, 92, 400].map((age) => ({ tenant: tenant(age), utcDay: today - age, calls: age }));
      await repository.store('a', 1, deltas);
      expect(await repository.deleteOldUsage(90, 2)).toBe(2);
      expect(await repository.deleteOldUsage(90, 2)).toBe(1);
      expect(await repository.deleteOldUsage(90, 2)).toBe(0);
      expect(await totals()).toEqual([0, 1, 90]);
      await repository.register('b');
      await scratch.query(`UPDATE quota_instance SET seen_at = seen_at - ${8 * 86_400_000} WHERE instance_id = 'b'`);
      expect(await repository.deleteOldInstances(7 * 86_400_000)).toBe(1);
      expect(await lastBatch('a')).toEqual([1]);
    });

    it('the day is stored as a date that people can read', async () => {
      const repository = await connect();
      await repository.register('a');
      await repository.store('a', 1, [{ tenant: tenant(1), utcDay: DAY, calls: 4 }]);
      const rows = await scratch.query(`SELECT calls FROM quota_usage WHERE utc_day = '${utcDayText(DAY)}'`);
      expect(rows.map((row) => Number(row['calls']))).toEqual([4]);
    });

    it('four instances that flush the same tenants at once meet no dead-lock and lose nothing', async () => {
      const repositories = await Promise.all([connect(), connect(), connect(), connect()]);
      const deltas = Array.from({ length: 600 }, (_, n) => ({ tenant: tenant(n), utcDay: DAY, calls: 1 }));
      await Promise.all(
        repositories.map(async (repository, index) => {
          await repository.register(`i${index}`);
          for (let number = 1; number <= 8; number += 1) {
            expect(await repository.store(`i${index}`, number, deltas)).toBe('stored');
          }
        }),
      );
      expect(await totals()).toEqual(deltas.map(() => 32));
    });

    it('the entities and the migrations describe one and the same schema', async () => {
      await connect();
      const parsed = parseControlDbUrl(scratch.url);
      if (!parsed.ok) throw new Error(parsed.message);
      const { options } = createControlConnection(parsed.options).dataSource;
      // MariaDB describes a column without a default in words of its own, which the driver knows under that name only.
      const isMariaDb =
        options.type === 'mysql' && /mariadb/i.test(JSON.stringify(await scratch.query('SELECT VERSION()')));
      const dataSource = new DataSource(isMariaDb ? { ...options, type: 'mariadb' } : options);
      await dataSource.initialize();
      try {
        const { upQueries } = await dataSource.driver.createSchemaBuilder().log();
        expect(upQueries.map((query) => query.query)).toEqual([]);
      } finally {
        await dataSource.destroy();
      }
    });
  });
});

describe.each(DATABASE_KINDS)('migrations on $title', ({ available, create, name }) => {
  const logged: string[] = [];
  const log = (line: unknown) => void logged.push(String(line));

  beforeEach(() => {
    logged.length = 0;
    Logger.overrideLogger({ log, warn: log, error: log });
  });
  afterEach(() => Logger.overrideLogger(false));

  it.skipIf(!available)(
    'several instances that migrate at once do no harm, and one of them says what it ran',
    async () => {
      const scratch = await create();
      const databases = Array.from({ length: 6 }, () => new ControlDatabaseService({ controlDbUrl: scratch.url }));
      const failures: string[] = [];
      try {
        for (const database of databases) {
          database.listen({ connectFailed: (code) => failures.push(code) });
          database.open();
        }
        await waitUntil('all are connected', () => databases.every((database) => database.isConnected));
        const rows = await scratch.query('SELECT name FROM tidb_mcp_migration');
        expect(rows.length).toBeGreaterThan(0);
        expect(new Set(rows.map((row) => row['name'])).size).toBe(rows.length);
        expect(failures).toEqual([]);
        const ran = logged.filter((line) => line.startsWith('Running ') || line.startsWith('Ran '));
        expect(ran).toEqual([
          `Running ${rows.length} migrations: ${rows.map((row) => String(row['name'])).join(', ')}.`,
          expect.stringMatching(`^Ran ${rows.length} migrations in \\d+\\.\\d s\\.$`),
        ]);
      } finally {
        await Promise.all(databases.map((database) => database.onApplicationShutdown()));
        await scratch.drop();
      }
    },
  );

  it.skipIf(!available)('an instance that waits for another one’s migrations says so', async () => {
    const scratch = await create();
    const [holder, waiting] = [scratch, scratch].map(({ url }) => new ControlDatabaseService({ controlDbUrl: url }));
    if (holder === undefined || waiting === undefined) throw new Error('two are made');
    const { begin, attempt } = holder.dialect.migrationLock;
    try {
      holder.open();
      await waitUntil('connected', () => holder.isConnected);
      await holder.run(async (manager) => {
        // A unit on the embedded file holds it anyway.
        const lock = name === 'libsql' ? [] : [...begin, ...(attempt === undefined ? [] : [attempt])];
        for (const statement of lock) await manager.query(statement);
        waiting.open();
        await waitUntil('it says that it waits', () => logged.some((line) => /^Another .* waiting for it/.test(line)));
        expect(waiting.isConnected).toBe(false);
        if (name !== 'libsql') await manager.query(holder.dialect.migrationLock.release);
      });
      await waitUntil('connected', () => waiting.isConnected);
      expect(logged.filter((line) => line.startsWith('Another '))).toHaveLength(1);
      expect(logged.filter((line) => line.startsWith('Running '))).toHaveLength(1);
    } finally {
      await Promise.all([holder, waiting].map((database) => database.onApplicationShutdown()));
      await scratch.drop();
    }
  });
});
