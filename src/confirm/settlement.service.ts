import { type BeforeApplicationShutdown, Injectable, Logger } from '@nestjs/common';
import { ControlDatabaseService } from '../control-db/control-database.service.js';
import { errorCode } from '../control-db/database-error.js';
import { within } from '../control-db/within.adapter.js';
import { type Attempt, NonceLedger } from './nonce-ledger.repository.js';
import type { ConfirmOutcome } from './performed.js';

/** How a consumed row ends: with an outcome, or given back because nothing was performed. */
export type Ending = { readonly outcome: ConfirmOutcome; readonly sealedResult: string } | 'release';

interface Unsettled extends Attempt {
  readonly ending: Ending;
}

/** Later than any unit of work lasts, so that one whose answer was lost is over when its row is looked at again. */
const RETRY_MS = 3_000;

/** Endings that wait for the database; beyond that the oldest is dropped, and its row stays as consumed. */
const MOST_UNSETTLED = 1_000;

/** How long a shutdown waits for what is being performed: within the 20 s that running requests have. */
const PERFORMING_MS = 15_000;

/** How long the last try of a shutdown may take. */
const LAST_TRY_MS = 1_500;

/**
 * Writes into the ledger how confirms ended, also when the database is away at that moment: a caller who lost the answer
 * is to learn the outcome, and what performed nothing is to be usable again.
 */
@Injectable()
export class SettlementService implements BeforeApplicationShutdown {
  private readonly logger = new Logger('Confirm');
  private readonly unsettled = new Map<string, Unsettled>();
  /** Those of them that were there at the last look. */
  private seen: ReadonlySet<string> = new Set();
  private readonly performing = new Set<Promise<unknown>>();
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly ledger: NonceLedger,
    database: ControlDatabaseService,
  ) {
    database.beforeClose(() => within(LAST_TRY_MS, this.retry(this.unsettled)).catch(() => undefined));
  }

  /** Keeps the process from closing under an operation that is being performed. */
  async whilePerforming<T>(work: Promise<T>): Promise<T> {
    this.performing.add(work);
    try {
      return await work;
    } finally {
      this.performing.delete(work);
    }
  }

  /** Writes an ending; rejects where it could not be written in time, after seeing to it that it is written later. */
  async settle(attempt: Attempt, ending: Ending, wait: (work: Promise<void>) => Promise<void>): Promise<void> {
    try {
      await wait(this.write({ ...attempt, ending }));
    } catch (error) {
      this.later(attempt, ending);
      throw error;
    }
  }

  /** Writes an ending as soon as the database is there. */
  later({ tokenHash, attempt }: Attempt, ending: Ending): void {
    if (this.unsettled.size >= MOST_UNSETTLED) {
      const [oldest] = this.unsettled.keys();
      if (oldest !== undefined) this.unsettled.delete(oldest);
      this.logger.error('Too many outcomes of confirms wait for the control database; the oldest is dropped.');
    }
    this.unsettled.set(attempt, { tokenHash, attempt, ending });
    this.arm();
  }

  async beforeApplicationShutdown(): Promise<void> {
    if (this.performing.size > 0) {
      this.logger.log(`Waiting for confirms that are being performed (${this.performing.size}), for 15 s at the most.`);
      await within(PERFORMING_MS, Promise.allSettled(this.performing)).catch(() => undefined);
    }
    clearTimeout(this.timer);
  }

  private arm(): void {
    this.timer ??= setTimeout(() => void this.look(), RETRY_MS).unref();
  }

  /** Writes what was there at the last look; what came since may still be under way, and waits for the next one. */
  private async look(): Promise<void> {
    const due = [...this.unsettled].filter(([key]) => this.seen.has(key));
    this.seen = new Set(this.unsettled.keys());
    await this.retry(due);
    this.timer = undefined;
    if (this.unsettled.size > 0) this.arm();
  }

  private async retry(entries: Iterable<readonly [string, Unsettled]>): Promise<void> {
    for (const [key, unsettled] of entries) {
      try {
        await this.write(unsettled);
        this.unsettled.delete(key);
      } catch (error) {
        this.logger.debug(`The outcome of a confirm is not stored yet (${errorCode(error)}).`);
        return;
      }
    }
  }

  private write({ ending, ...attempt }: Unsettled): Promise<void> {
    if (ending === 'release') return this.ledger.release(attempt);
    return this.ledger.settle(attempt, ending.outcome, ending.sealedResult);
  }
}
