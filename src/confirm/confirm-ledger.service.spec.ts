import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { watch } from '../../test/support/watch.js';
import { ConfirmLedgerService } from './confirm-ledger.service.js';
import type { NonceLedger } from './nonce-ledger.repository.js';
import type { SettlementService } from './settlement.service.js';

const NEVER = new Promise<never>(() => undefined);
const ATTEMPT = { tokenHash: 'hash', attempt: 'attempt' };
const ENTRY = { tokenHash: 'hash', caller: 'caller', operation: 'delete_cluster', digest: 'digest', sealedPlan: '' };

/** A ledger that says nothing, but that `find` has answered after a second; what was put off till later is kept. */
function silentLedger() {
  const later: unknown[] = [];
  const ledger = {
    ask: () => NEVER,
    add: () => NEVER,
    find: () => new Promise((resolve) => setTimeout(() => resolve(undefined), 1_000)),
    consume: () => NEVER,
  } as unknown as NonceLedger;
  const settlements = {
    later: (attempt: unknown, ending: unknown) => later.push([attempt, ending]),
  } as unknown as SettlementService;
  return { later, service: new ConfirmLedgerService(ledger, settlements) };
}

describe('The ledger of one call', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it.each([
    ['is asked', (service: ConfirmLedgerService) => service.patiently().ask()],
    ['takes an entry', (service: ConfirmLedgerService) => service.patiently().add(ENTRY, 1)],
    ['is consumed', (service: ConfirmLedgerService) => service.patiently().consume(ATTEMPT, 'caller', 'digest')],
  ])('has a second and a half when it %s, and then the call is over', async (_, work) => {
    const waited = watch(work(silentLedger().service));
    await vi.advanceTimersByTimeAsync(1_499);
    expect(waited.end).toBeUndefined();
    await vi.advanceTimersByTimeAsync(1);
    expect(waited.end).toBe('CONFIRM_LEDGER_UNAVAILABLE');
  });

  it('has them for all that the call asks, and gives back later what may be consumed', async () => {
    const { later, service } = silentLedger();
    const ledger = service.patiently();
    const found = ledger.find('hash');
    await vi.advanceTimersByTimeAsync(1_000);
    expect(await found).toBeUndefined();
    const consumed = watch(ledger.consume(ATTEMPT, 'caller', 'digest'));
    await vi.advanceTimersByTimeAsync(499);
    expect([consumed.end, later]).toEqual([undefined, []]);
    await vi.advanceTimersByTimeAsync(1);
    expect([consumed.end, later]).toEqual(['CONFIRM_LEDGER_UNAVAILABLE', [[ATTEMPT, 'release']]]);
  });
});
