import { Logger } from '@nestjs/common';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { ControlDatabaseService } from '../../src/control-db/control-database.service.js';
import { DatabaseError } from '../../src/control-db/database-error.js';
import { DATABASE_KINDS, type ScratchDatabase } from '../support/control-databases.js';
import { waitUntil } from '../support/wait-until.js';

Logger.overrideLogger(false);

const COUNT = 'SELECT COUNT(*) AS n FROM quota_instance';
const insert = (id: string) => `INSERT INTO quota_instance (instance_id, last_batch, seen_at) VALUES ('${id}', 0, 0)`;

describe.each(DATABASE_KINDS)('units of work on $title', ({ available, create, name }) => {
  describe.skipIf(!available)('as whoever keeps something in the database meets them', () => {
    let scratch: ScratchDatabase;
    const open: ControlDatabaseService[] = [];

    const connect = async () => {
      const database = new ControlDatabaseService({ controlDbUrl: scratch.url });
      open.push(database);
      database.open();
      await waitUntil('connected', () => database.isConnected);
      return database;
    };
    const count = async () => Number((await scratch.query(COUNT))[0]?.['n']);

    beforeAll(async () => {
      scratch = await create();
      await connect();
    });
    afterEach(async () => {
      await Promise.all(open.splice(0).map((database) => database.onApplicationShutdown()));
      await scratch.query('DELETE FROM quota_instance');
    });
    afterAll(async () => {
      await scratch.drop();
    });

    it('a failed transaction leaves nothing behind, and its outcome is known', async () => {
      const database = await connect();
      const failing = database.transaction(async (manager) => {
        await manager.query(insert('a'));
        await manager.query('SELECT nonsense FROM nowhere_at_all_zq');
      });
      await expect(failing).rejects.toMatchObject({ name: 'DatabaseError', outcome: 'not-stored' });
      await waitUntil('connected', () => database.isConnected);
      expect(await count()).toBe(0);
    });

    it('units that are started at once get into nobody else’s transaction', async () => {
      const database = await connect();
      const results = await Promise.allSettled(
        Array.from({ length: 30 }, (_, n) =>
          n % 3 === 0
            ? database.transaction(async (manager) => {
                await manager.query(insert(`lost${n}`));
                throw new Error('given up');
              })
            : n % 3 === 1
              ? database.transaction((manager) => manager.query(insert(`kept${n}`)))
              : database.run((manager) => manager.query(insert(`alone${n}`))),
        ),
      );
      expect(results.map(({ status }) => status === 'fulfilled')).toEqual(results.map((_, n) => n % 3 !== 0));
      expect(await count()).toBe(20);
    });

    it.skipIf(name === 'libsql')(
      'a row that somebody else has locked is given up while it is, and the connection is good again',
      async () => {
        const [holder, database] = [await connect(), await connect()];
        await holder.run((manager) => manager.query(insert('a')));
        const touch = "UPDATE quota_instance SET seen_at = seen_at + 1 WHERE instance_id = 'a'";
        let given: Promise<unknown> | undefined;
        await holder
          .transaction(async (manager) => {
            await manager.query(touch);
            given = database.transaction((other) => other.query(touch)).catch((error: unknown) => error);
            await given;
            await manager.query(touch);
          })
          .catch(() => undefined);
        expect(await given).toMatchObject({ name: 'DatabaseError', outcome: 'not-stored' });
        await waitUntil('the row can be written again', () =>
          database
            .transaction((manager) => manager.query(touch))
            .then(
              () => true,
              () => false,
            ),
        );
      },
    );

    it.runIf(name === 'libsql')(
      'a unit whose time is up holds the file no longer, and nothing that it still does is stored',
      async () => {
        const [holder, database] = [await connect(), await connect()];
        await holder.run((manager) => manager.query(insert('a')));
        const count1 = 'UPDATE quota_instance SET last_batch = last_batch + 1';
        let late: unknown;
        const lasting = holder.transaction(async (manager) => {
          await manager.query(count1);
          await new Promise((resolve) => setTimeout(resolve, 2_200));
          late = await manager.query(count1).catch((error: unknown) => error);
        });
        await expect(lasting).rejects.toMatchObject({ code: 'TIMEOUT', outcome: 'not-stored' });
        await database.transaction((manager) => manager.query(insert('b')));
        await waitUntil('it does something late', () => late !== undefined);
        expect(late).toBeInstanceOf(Error);
        const rows = await scratch.query('SELECT instance_id, last_batch FROM quota_instance ORDER BY instance_id');
        expect(rows).toEqual([
          { instance_id: 'a', last_batch: 0 },
          { instance_id: 'b', last_batch: 0 },
        ]);
      },
    );

    /** How units ended: in the database, certainly not, or nobody knows; anything else is a mistake. */
    const endsOf = (units: Promise<unknown>[]) =>
      Promise.all(
        units.map((unit) =>
          unit.then(
            () => 'stored' as const,
            (error: unknown) => {
              if (error instanceof DatabaseError) return error.outcome;
              throw error;
            },
          ),
        ),
      );
    const storedAsTold = async (ends: Awaited<ReturnType<typeof endsOf>>) => {
      const stored = ends.filter((end) => end === 'stored').length;
      expect(await count()).toBeGreaterThanOrEqual(stored);
      expect(await count()).toBeLessThanOrEqual(stored + ends.filter((end) => end === 'unknown').length);
    };

    it.each(['run', 'transaction'] as const)(
      'units (%s) that wait behind one that finds no tables end as they say, and the next connection takes more',
      async (kind) => {
        const database = await connect();
        const missing = database.run((manager) => manager.query('SELECT 1 FROM no_such_table_zq')).catch(String);
        const behind = Array.from({ length: 8 }, (_, n) => database[kind]((manager) => manager.query(insert(`b${n}`))));
        const ends = await endsOf(behind);
        expect(await missing).toContain('DatabaseError');
        await storedAsTold(ends);
        await waitUntil('connected again', () => database.isConnected);
        ends.push(...(await endsOf([database.run((manager) => manager.query(insert('later')))])));
        expect(ends.at(-1)).toBe('stored');
        await storedAsTold(ends);
      },
    );

    it('units that still wait when it is closed end as they say', async () => {
      const database = await connect();
      const waiting = Array.from({ length: 8 }, (_, n) =>
        database.transaction((manager) => manager.query(insert(`w${n}`))),
      );
      const ends = endsOf(waiting);
      await database.onApplicationShutdown();
      await storedAsTold(await ends);
    });

    it.skipIf(name === 'libsql')('a statement that takes too long is given up, and no pool runs dry', async () => {
      const database = await connect();
      const sleep = name === 'PostgreSQL' ? 'SELECT pg_sleep(20)' : 'SELECT SLEEP(20)';
      const slow = await Promise.allSettled(
        Array.from({ length: 6 }, () => database.run((manager) => manager.query(sleep))),
      );
      for (const result of slow) expect(result).toMatchObject({ status: 'rejected', reason: { code: 'TIMEOUT' } });
      await database.run((manager) => manager.query(insert('a')));
      expect(await count()).toBe(1);
    });

    it('what has to be done before closing is done while the database is still there', async () => {
      const database = await connect();
      database.beforeClose(() => database.run((manager) => manager.query(insert('last'))));
      await database.onApplicationShutdown();
      expect(await count()).toBe(1);
      await expect(database.run((manager) => manager.query(COUNT))).rejects.toMatchObject({ code: 'CLOSED' });
    });

    it('before it is connected, work is refused at once', async () => {
      const database = new ControlDatabaseService({ controlDbUrl: scratch.url });
      await expect(database.run((manager) => manager.query(COUNT))).rejects.toMatchObject({ code: 'NOT_CONNECTED' });
    });
  });
});
