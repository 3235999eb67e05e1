import { setImmediate as turn } from 'node:timers/promises';
import { expect, it, describe } from 'vitest';
import { systemClock } from '../../src/clock/clock.module.js';
import { ProofSync } from '../../src/auth/proof-sync.js';
import { ProvenCredentials } from '../../src/auth/proven-credentials.js';
import { RevalidationTimes } from '../../src/auth/revalidation.js';
import { NO_BUCKETS } from '../../src/auth/tenant-buckets.js';
import { ControlDatabaseService } from '../../src/control-db/control-database.service.js';
import { ProofExchange } from '../../src/proof-store/proof-exchange.js';
import { ProofRepository } from '../../src/proof-store/proof.repository.js';
import { DATABASE_KINDS } from '../support/control-databases.js';
import { longestShare } from '../support/longest-hold.js';
import { tenantName } from '../support/quota-app.js';
import { waitUntil } from '../support/wait-until.js';

const PROOFS = 20_000;
const MAX = 10_000;
const LIVES = {
  provenIdleMs: 86_400_000,
  contextIdleMs: 1_800_000,
  revalidation: new RevalidationTimes(0, Math.random),
};
const LISTENER = { proven: () => undefined, confirmed: () => undefined, forgotten: () => undefined };

function instance(database: ControlDatabaseService, max: number) {
  const proven = new ProvenCredentials(max, LIVES, NO_BUCKETS, LISTENER);
  const sync = new ProofSync(proven, max, () => systemClock.monotonicMs());
  const options = { provenIdleMs: LIVES.provenIdleMs, provenMax: max, intervalMs: 30_000 };
  const exchange = new ProofExchange(new ProofRepository(database), sync, systemClock, options, () => turn());
  return { proven, sync, exchange };
}

describe.each(DATABASE_KINDS)('20,000 proofs on $title', ({ available, create }) => {
  it.skipIf(!available)(
    'are written and loaded in chunks, the most recently used up to the ceiling, holding nobody up for long',
    { timeout: 120_000 },
    async () => {
      const scratch = await create();
      const database = new ControlDatabaseService({ controlDbUrl: scratch.url });
      try {
        database.open();
        await waitUntil('connected', () => database.isConnected);
        const writer = instance(database, PROOFS);
        const nowMs = systemClock.monotonicMs();
        const proofs = Array.from({ length: PROOFS }, (_, n) => {
          const fingerprint = tenantName(n);
          return { fingerprint, tenant: fingerprint, acceptedMs: nowMs - n, usedMs: nowMs - n, rejectedMs: -Infinity };
        });
        writer.proven.merge(proofs, nowMs);
        // The most recently used are written last, as they are by servers that use them.
        for (const { fingerprint } of proofs.toReversed()) writer.sync.noteUse(fingerprint);
        expect(await longestShare(() => writer.exchange.write())).toBeLessThan(0.5);
        const loader = instance(database, MAX);
        expect(await longestShare(() => loader.exchange.read())).toBeLessThan(0.5);
        expect(loader.proven.count(systemClock.monotonicMs())).toBe(MAX);
        const held = [0, MAX - 1_000, MAX + 1_000, PROOFS - 1].map((n) =>
          loader.proven.has(tenantName(n), systemClock.monotonicMs()),
        );
        expect(held).toEqual([true, true, false, false]);
        await loader.exchange.read();
        expect(loader.proven.count(systemClock.monotonicMs())).toBe(MAX);
      } finally {
        await database.onApplicationShutdown();
        await scratch.drop();
      }
    },
  );
});
