import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { ControlDatabaseService } from '../control-db/control-database.service.js';
import { DatabaseError } from '../control-db/database-error.js';
import type { Attempt, NonceLedger } from './nonce-ledger.repository.js';
import { SettlementService } from './settlement.service.js';

/** A ledger that writes down which attempts it gives back, or is away. */
function setUp() {
  const ledger = { released: [] as string[], isAway: false };
  const release = ({ attempt }: Attempt) => {
    if (ledger.isAway) return Promise.reject(new DatabaseError('NOT_CONNECTED', 'not-stored'));
    ledger.released.push(attempt);
    return Promise.resolve();
  };
  const database = { beforeClose: () => undefined } as unknown as ControlDatabaseService;
  const settlements = new SettlementService({ release } as unknown as NonceLedger, database);
  return { ledger, later: (attempt: string) => settlements.later({ tokenHash: attempt, attempt }, 'release') };
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe('A confirmation that is to be given back', () => {
  it('is, though others come to be given back all the time', async () => {
    const { ledger, later } = setUp();
    later('first');
    for (let n = 0; n < 6; n += 1) {
      await vi.advanceTimersByTimeAsync(1_000);
      later(`other ${n}`);
    }
    expect(ledger.released).toContain('first');
  });

  it('is not before the try of which nobody knows the outcome must have ended', async () => {
    const { ledger, later } = setUp();
    later('first');
    await vi.advanceTimersByTimeAsync(2_900);
    later('second');
    await vi.advanceTimersByTimeAsync(2_900);
    expect(ledger.released).not.toContain('second');
    await vi.advanceTimersByTimeAsync(3_200);
    expect(ledger.released).toEqual(['first', 'second']);
  });

  it('is once the database is back', async () => {
    const { ledger, later } = setUp();
    ledger.isAway = true;
    later('first');
    await vi.advanceTimersByTimeAsync(60_000);
    ledger.isAway = false;
    await vi.advanceTimersByTimeAsync(3_000);
    expect(ledger.released).toEqual(['first']);
  });
});
