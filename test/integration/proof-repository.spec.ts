import { Logger } from '@nestjs/common';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { ControlDatabaseService } from '../../src/control-db/control-database.service.js';
import type { ProofPosition, ProofRow } from '../../src/proof-store/proof-table.js';
import { ProofRepository } from '../../src/proof-store/proof.repository.js';
import type { StoredProof } from '../../src/proof-store/stored-proof.js';
import { DATABASE_KINDS, type ScratchDatabase } from '../support/control-databases.js';
import { tenantName } from '../support/quota-app.js';
import { waitUntil } from '../support/wait-until.js';

Logger.overrideLogger(false);

const proof = (n: number, acceptedMs: number, usedMs: number, rejectedMs: number, tenant = n): StoredProof => ({
  fingerprint: tenantName(n),
  tenant: tenantName(tenant),
  acceptedMs,
  usedMs,
  rejectedMs,
});
const plain = ({ fingerprint, tenant, acceptedMs, usedMs, rejectedMs }: ProofRow): StoredProof => ({
  fingerprint,
  tenant,
  acceptedMs,
  usedMs,
  rejectedMs,
});

describe.each(DATABASE_KINDS)('the proofs on $title', ({ available, create }) => {
  describe.skipIf(!available)('as instances share them', () => {
    let scratch: ScratchDatabase;
    const open: ControlDatabaseService[] = [];

    const connect = async () => {
      const database = new ControlDatabaseService({ controlDbUrl: scratch.url });
      open.push(database);
      database.open();
      await waitUntil('connected', () => database.isConnected);
      return new ProofRepository(database);
    };
    const all = async (table: ProofRepository) => {
      const rows = await table.read(0, undefined, 100);
      return rows.map(plain).sort((a, b) => (a.fingerprint < b.fingerprint ? -1 : 1));
    };

    beforeAll(async () => {
      scratch = await create();
    });
    afterEach(async () => {
      await scratch.query('DELETE FROM proven_credential');
      await Promise.all(open.splice(0).map((database) => database.onApplicationShutdown()));
    });
    afterAll(async () => {
      await scratch.drop();
    });

    it('the later of every two times stays, in whatever order they come and however often', async () => {
      const table = await connect();
      const writes = [proof(1, 5, 9, 0, 7), proof(1, 0, 0, 6), proof(1, 4, 12, 0, 8), proof(1, 0, 0, 3)];
      for (const write of [...writes, ...writes.toReversed()]) await table.write([write]);
      expect(await all(table)).toEqual([proof(1, 5, 12, 6, 7)]);
      await table.write([proof(1, 13, 13, 0, 9)]);
      expect(await all(table)).toEqual([proof(1, 13, 13, 6, 9)]);
    });

    it('instances that write the same rows at once wait for each other and lose nothing', async () => {
      const tables = await Promise.all([connect(), connect(), connect()]);
      const rows = (shift: number) =>
        Array.from({ length: 500 }, (_, n) => proof(n, 1 + ((n + shift) % 3), 1 + ((n + shift) % 3), 0));
      await Promise.all(tables.flatMap((table, t) => [table.write(rows(t)), table.write(rows(t + 1))]));
      const stored = await tables[0].read(0, undefined, 1_000);
      expect(stored.map(({ acceptedMs, usedMs }) => [acceptedMs, usedMs])).toEqual(
        Array.from({ length: 500 }, () => [3, 3]),
      );
    });

    it('what was written since is read page by page, the last written first', async () => {
      const table = await connect();
      for (let n = 0; n < 7; n += 1) await table.write([proof(n, n + 1, n + 1, 0)]);
      const read: ProofRow[] = [];
      let before: ProofPosition | undefined;
      for (;;) {
        const page = await table.read(0, before, 2);
        read.push(...page);
        before = page.at(-1);
        if (page.length < 2) break;
      }
      expect(read.map(({ fingerprint }) => fingerprint).sort()).toEqual(
        Array.from({ length: 7 }, (_, n) => tenantName(n)),
      );
      expect(read.map(({ updatedAtMs }) => updatedAtMs)).toEqual(
        read.map(({ updatedAtMs }) => updatedAtMs).sort((a, b) => b - a),
      );
      const { nowMs, newestMs } = await table.survey();
      expect(newestMs).toBe(read[0]?.updatedAtMs);
      expect(nowMs - newestMs).toBeLessThan(60_000);
      expect(await table.read(newestMs + 1, undefined, 10)).toEqual([]);
    });

    it('what was written while the clock was ahead is brought back, and proves nothing then', async () => {
      const table = await connect();
      await table.write([proof(1, 1, 2, 3), proof(2, 9_000_000_000_000, 9_000_000_000_000, 9_000_000_000_000)]);
      await scratch.query(
        `UPDATE proven_credential SET updated_at = 9000000000000 WHERE fingerprint = '${tenantName(2)}'`,
      );
      const { nowMs, newestMs } = await table.survey();
      expect(newestMs).toBe(9_000_000_000_000);
      await table.bringBack(nowMs, nowMs + 60_000);
      expect(await all(table)).toEqual([proof(1, 1, 2, 3), proof(2, 0, nowMs, nowMs)]);
      expect((await table.survey()).newestMs).toBeLessThanOrEqual(nowMs + 1_000);
    });

    it('old ones are removed in small steps, the oldest first', async () => {
      const table = await connect();
      for (let n = 0; n < 5; n += 1) {
        await table.write([proof(n, 1, 1, 0)]);
        await scratch.query(
          `UPDATE proven_credential SET updated_at = ${n + 1} WHERE fingerprint = '${tenantName(n)}'`,
        );
      }
      expect(await table.deleteOld(5, 3)).toBe(3);
      expect(await table.deleteOld(5, 3)).toBe(1);
      expect(await all(table)).toEqual([proof(4, 1, 1, 0)]);
    });

    it('an empty table has no newest row', async () => {
      expect((await (await connect()).survey()).newestMs).toBe(0);
    });
  });
});
