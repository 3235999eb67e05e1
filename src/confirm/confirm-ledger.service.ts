import { Injectable, Logger } from '@nestjs/common';
import { DatabaseError } from '../control-db/database-error.js';
import type { Outcome } from '../tidb-cloud/outcome.js';
import { ledgerUnavailable } from './confirm-errors.js';
import { LedgerPatience } from './ledger-patience.adapter.js';
import { type Attempt, type NonceEntry, NonceLedger, type NonceRow } from './nonce-ledger.repository.js';
import { type Ending, SettlementService } from './settlement.service.js';

/**
 * The ledger as one call sees it: it answers within the call's patience or the call is over. Every method throws
 * CONFIRM_LEDGER_UNAVAILABLE where it does not answer, unless it says otherwise.
 */
export interface PatientLedger {
  ask(): Promise<void>;
  add(entry: NonceEntry, lifeMs: number): Promise<number>;
  find(tokenHash: string): Promise<NonceRow | undefined>;
  /** Where it fails, the confirmation is given back later: this call performs nothing then. */
  consume(attempt: Attempt, caller: string, digest: string): Promise<boolean>;
  /** Never fails: what cannot be written now is written later. */
  settle(attempt: Attempt, ending: Ending): Promise<void>;
  /** Keeps the process from closing under the performing request. */
  whilePerforming(work: Promise<Outcome<unknown>>): Promise<Outcome<unknown>>;
}

/** Hands the ledger out to one call at a time. Spec: "The confirm nonce ledger … fails closed". */
@Injectable()
export class ConfirmLedgerService {
  private readonly logger = new Logger('Confirm');

  constructor(
    private readonly ledger: NonceLedger,
    private readonly settlements: SettlementService,
  ) {}

  /** The ledger for one call. */
  patiently(): PatientLedger {
    const { ledger, settlements } = this;
    const patience = new LedgerPatience();
    const fail = (error: unknown): never => this.fail(error);
    const wait = <T>(work: Promise<T>): Promise<T> => patience.wait(work).catch(fail);
    const releaseUnlessKnown = (attempt: Attempt) => (error: unknown) => {
      const nothingStored = error instanceof DatabaseError && error.outcome === 'not-stored';
      if (!nothingStored) settlements.later(attempt, 'release');
      throw error;
    };
    return {
      ask: () => wait(ledger.ask()),
      add: (entry, lifeMs) => wait(ledger.add(entry, lifeMs)),
      find: (tokenHash) => wait(ledger.find(tokenHash)),
      consume: (attempt, caller, digest) =>
        patience
          .wait(ledger.consume(attempt, caller, digest))
          .catch(releaseUnlessKnown(attempt))
          .catch(fail),
      settle: (attempt, ending) => settlements.settle(attempt, ending, wait).catch(() => undefined),
      whilePerforming: (work) => settlements.whilePerforming(work),
    };
  }

  private fail(error: unknown): never {
    if (!(error instanceof DatabaseError)) throw error;
    this.logger.debug(`The ledger of confirmations is not available (${error.code}).`);
    throw ledgerUnavailable();
  }
}
