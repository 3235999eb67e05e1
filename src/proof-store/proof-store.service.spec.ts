import { Logger } from '@nestjs/common';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ManualClock } from '../../test/support/manual-clock.js';
import { ModelledProofTable } from '../../test/support/modelled-proof-table.js';
import { configOf } from '../config/parse-config.js';
import type { FlushFollower, QuotaFlushService } from '../quota/quota-flush.service.js';
import { ProofStoreService } from './proof-store.service.js';
import type { ProofRepository } from './proof.repository.js';

/** What a driver says of a statement that failed: nothing of it but the code is anybody's to read. */
const driverError = (code: string): Error =>
  Object.assign(new Error('UPDATE proven_credential SET tenant = 8d5e for quota:hunter2@db.internal'), {
    name: 'QueryFailedError',
    query: 'UPDATE proven_credential',
    driverError: Object.assign(new Error('Access denied for hunter2'), { code }),
  });

let said: [level: string, line: string][];
let table: ModelledProofTable;
let store: ProofStoreService;
let follower: FlushFollower;

beforeEach(() => {
  said = [];
  for (const level of ['log', 'warn', 'error', 'debug'] as const)
    vi.spyOn(Logger.prototype, level).mockImplementation((...parts: unknown[]) => {
      said.push([level, parts.map(String).join(' ')]);
    });
  const clock = new ManualClock();
  table = new ModelledProofTable(() => clock.utcMs());
  const quota = { follow: (other: FlushFollower) => (follower = other) } as unknown as QuotaFlushService;
  store = new ProofStoreService(configOf(), clock, table as unknown as ProofRepository, quota);
  const holder = { takeChanges: () => [], hasRejections: false, putBack: () => undefined, merge: () => 0 };
  store.attach(holder);
});
afterEach(() => vi.restoreAllMocks());

const failWith = (...codes: string[]): void => {
  const survey = vi.spyOn(table, 'survey');
  for (const code of codes) survey.mockRejectedValueOnce(driverError(code));
};
const CANNOT = ['warn', 'Proofs cannot be exchanged (ER_ACCESS_DENIED); those in memory hold.'];
const AGAIN = ['log', 'Proofs are exchanged again.'];

describe('An operator whose proofs cannot be exchanged with the control database', () => {
  it('is told once when it begins and once when it is over, however long it lasts', async () => {
    await store.exchangeNow();
    expect(said).toEqual([]);
    failWith('ER_ACCESS_DENIED', 'ER_ACCESS_DENIED', 'ETIMEDOUT');
    for (let i = 0; i < 3; i += 1) await store.exchangeNow();
    expect(said).toEqual([CANNOT]);
    for (let i = 0; i < 3; i += 1) await store.exchangeNow();
    expect(said).toEqual([CANNOT, AGAIN]);
  });

  it('is told again of the next time', async () => {
    for (let i = 0; i < 2; i += 1) {
      failWith('ER_ACCESS_DENIED');
      await store.exchangeNow();
      await store.exchangeNow();
    }
    expect(said).toEqual([CANNOT, AGAIN, CANNOT, AGAIN]);
  });

  it('reads the code of the failure and nothing of a statement, an address or a password', async () => {
    failWith("x'; hunter2");
    await store.exchangeNow();
    expect(said).toEqual([['warn', 'Proofs cannot be exchanged (Error); those in memory hold.']]);
  });

  it('is told as well where it was a flush, a read or the last write that failed, and none of them fails with it', async () => {
    table.weather = 'away';
    follower.flushed();
    await store.exchangeNow();
    follower.readAgain();
    await follower.flushedLast();
    expect(said).toEqual([['warn', expect.stringMatching(/^Proofs cannot be exchanged \(\w+\)/)]]);
  });
});

describe('A server that starts with its proofs in a database that does not answer', () => {
  afterEach(() => {
    vi.useRealTimers();
  });

  it('waits two seconds for them and no longer', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    vi.spyOn(table, 'survey').mockReturnValue(new Promise(() => undefined));
    follower.flushed();
    let isUp = false;
    void store.onApplicationBootstrap().then(() => (isUp = true));
    await vi.advanceTimersByTimeAsync(1_999);
    expect(isUp).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    expect(isUp).toBe(true);
  });
});
