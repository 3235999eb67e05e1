import { Logger } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { parseControlDbUrl } from '../../src/config/control-db-url.js';
import { systemClock } from '../../src/clock/clock.module.js';
import { ConfirmRetentionService } from '../../src/confirm/confirm-retention.service.js';
import { type NonceEntry, NonceLedger } from '../../src/confirm/nonce-ledger.repository.js';
import { ControlDatabaseService } from '../../src/control-db/control-database.service.js';
import { createControlConnection } from '../../src/control-db/data-source.adapter.js';
import { DATABASE_KINDS, type ScratchDatabase } from '../support/control-databases.js';
import { waitUntil } from '../support/wait-until.js';

Logger.overrideLogger(false);

const DAY_MS = 86_400_000;
const hash = (n: number) => n.toString(16).padStart(64, '0');
const entry = (n: number): NonceEntry => ({
  tokenHash: hash(n),
  caller: hash(1000),
  operation: 'delete_cluster',
  digest: hash(2000),
  sealedPlan: 'sealed',
});

describe.each(DATABASE_KINDS)('the ledger of confirmations on $title', ({ available, create }) => {
  describe.skipIf(!available)('as several instances use it', () => {
    let scratch: ScratchDatabase;
    const databases: ControlDatabaseService[] = [];
    const ledgers: NonceLedger[] = [];

    beforeAll(async () => {
      scratch = await create();
      for (let n = 0; n < 3; n += 1) {
        const database = new ControlDatabaseService({ controlDbUrl: scratch.url });
        ledgers.push(new NonceLedger(database));
        databases.push(database);
        database.open();
      }
      await waitUntil('connected', () => databases.every(({ isConnected }) => isConnected));
    });
    afterEach(async () => {
      await scratch.query('DELETE FROM confirm_nonce');
    });
    afterAll(async () => {
      await Promise.all(databases.map((database) => database.onApplicationShutdown()));
      await scratch.drop();
    });

    const attempt = (n: number, who: number) => ({ tokenHash: hash(n), attempt: `attempt-${who}` });

    it('a confirmation is consumed once, however many try at once', async () => {
      await ledgers[0]!.add(entry(1), 60_000);
      const tries = Array.from({ length: 30 }, (_, n) =>
        ledgers[n % 3]!.consume(attempt(1, n), hash(1000), hash(2000)).catch(() => false),
      );
      expect((await Promise.all(tries)).filter(Boolean)).toHaveLength(1);
    });

    it('it is consumed by nobody else, for nothing else, and not after its life', async () => {
      const [ledger] = ledgers as [NonceLedger];
      await ledger.add(entry(1), 60_000);
      await ledger.add(entry(2), -1);
      expect(await ledger.consume(attempt(1, 1), hash(1001), hash(2000))).toBe(false);
      expect(await ledger.consume(attempt(1, 1), hash(1000), hash(2001))).toBe(false);
      expect(await ledger.consume(attempt(2, 1), hash(1000), hash(2000))).toBe(false);
      expect(await ledger.consume(attempt(1, 1), hash(1000), hash(2000))).toBe(true);
    });

    it('only the try that has consumed it settles it or gives it back, and nobody reopens what is settled', async () => {
      const [ledger] = ledgers as [NonceLedger];
      await ledger.add(entry(1), 60_000);
      await ledger.consume(attempt(1, 1), hash(1000), hash(2000));
      await ledger.release(attempt(1, 2));
      await ledger.settle(attempt(1, 2), 'done', 'theirs');
      expect(await ledger.find(hash(1))).toMatchObject({ outcome: '', attempt: 'attempt-1' });
      await ledger.release(attempt(1, 1));
      expect(await ledger.find(hash(1))).toMatchObject({ consumedAt: 0, attempt: '' });
      await ledger.consume(attempt(1, 3), hash(1000), hash(2000));
      await ledger.settle(attempt(1, 3), 'done', 'mine');
      await ledger.release(attempt(1, 3));
      await ledger.settle(attempt(1, 3), 'unknown', 'later');
      expect(await ledger.find(hash(1))).toMatchObject({ outcome: 'done', sealedResult: 'mine' });
      expect((await ledger.find(hash(1)))?.consumedAt).toBeGreaterThan(0);
    });

    it('tells its life by its own clock', async () => {
      const [ledger] = ledgers as [NonceLedger];
      const expiresAt = await ledger.add(entry(1), 60_000);
      const row = await ledger.find(hash(1));
      expect(row).toMatchObject({ expiresAt, createdAt: expiresAt - 60_000 });
      expect(Math.abs((row?.nowMs ?? 0) - Date.now())).toBeLessThan(5_000);
      expect(await ledger.find(hash(9))).toBeUndefined();
    });

    it('lets go of what expired more than a day ago, in small steps, and of nothing else', async () => {
      const [ledger] = ledgers as [NonceLedger];
      for (let n = 0; n < 7; n += 1) await ledger.add(entry(n), -DAY_MS - 60_000);
      await ledger.add(entry(100), -DAY_MS + 60_000);
      await ledger.add(entry(101), 60_000);
      expect(await ledger.deleteExpired(DAY_MS, 5)).toBe(5);
      expect(await new ConfirmRetentionService(systemClock, ledger).removeExpired()).toBe(2);
      const rows = await scratch.query('SELECT token_hash FROM confirm_nonce ORDER BY token_hash');
      expect(rows.map((row) => row['token_hash'])).toEqual([hash(100), hash(101)]);
    });

    it('has the tables that the entities describe: nothing is left for a migration to do', async () => {
      const parsed = parseControlDbUrl(scratch.url);
      if (!parsed.ok) throw new Error(parsed.message);
      const { dataSource } = createControlConnection(parsed.options);
      const initialized: DataSource = await dataSource.initialize();
      try {
        const { upQueries } = await initialized.driver.createSchemaBuilder().log();
        const ours = upQueries.map(({ query }) => query).filter((query) => query.includes('confirm_nonce'));
        expect(ours).toEqual([]);
      } finally {
        await initialized.destroy();
      }
    });
  });
});
