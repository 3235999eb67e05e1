import { setImmediate } from 'node:timers/promises';
import { Inject, Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import { CLOCK, type Clock } from '../clock/clock.js';
import { CONFIG, type Config } from '../config/config.js';
import { errorCode } from '../control-db/database-error.js';
import { UNIT_TIMEOUT_MS } from '../control-db/sql-dialect.js';
import { within } from '../control-db/within.adapter.js';
import { QuotaFlushService } from '../quota/quota-flush.service.js';
import { ProofExchange, type ProofHolder } from './proof-exchange.js';
import { ProofRepository } from './proof.repository.js';

type Step = (exchange: ProofExchange) => Promise<void>;

const WHOLE: Step = (exchange) => exchange.writeAndRead();

/**
 * Exchanges proofs with the control database right after each of the quota's flushes and reads, in the background: no
 * request and no flush waits for it, and while the database is away the proofs in memory stay as they are.
 */
@Injectable()
export class ProofStoreService implements OnApplicationBootstrap {
  private readonly logger = new Logger('Proof');
  private exchange: ProofExchange | undefined;
  private running: Promise<void> | undefined;
  /** Whether something was asked for while something was running. */
  private isDue = false;
  private isFailing = false;

  constructor(
    @Inject(CONFIG) private readonly config: Config,
    @Inject(CLOCK) private readonly clock: Clock,
    private readonly repository: ProofRepository,
    private readonly quota: QuotaFlushService,
  ) {}

  /** Keeps the holder's proofs in the control database from now on; without a holder nothing is read or written. */
  attach(holder: ProofHolder): void {
    const { provenTtlSeconds, provenMax, quotaFlushSeconds } = this.config;
    const options = { provenIdleMs: provenTtlSeconds * 1_000, provenMax, intervalMs: quotaFlushSeconds * 1_000 };
    this.exchange = new ProofExchange(this.repository, holder, this.clock, options, () => setImmediate());
    this.quota.follow({
      flushed: () => void this.run(WHOLE),
      readAgain: () => void this.run((exchange) => exchange.read()),
      flushedLast: () => this.run((exchange) => exchange.write()),
    });
  }

  /** Waits for the proofs that are being loaded, so that the first requests meet them; for two seconds at the most. */
  async onApplicationBootstrap(): Promise<void> {
    if (this.running !== undefined) await within(UNIT_TIMEOUT_MS, this.running).catch(() => undefined);
  }

  /** Writes what has changed and reads what others changed, now rather than at the next flush. */
  async exchangeNow(): Promise<void> {
    await this.run(WHOLE);
  }

  /** One step at a time; for all that are asked for meanwhile one whole exchange follows. */
  private run(step: Step): Promise<void> {
    if (this.running !== undefined) {
      this.isDue = true;
      return this.running;
    }
    this.running = this.runAll(step).finally(() => {
      this.running = undefined;
    });
    return this.running;
  }

  private async runAll(first: Step): Promise<void> {
    await this.runOne(first);
    while (this.isDue) {
      this.isDue = false;
      await this.runOne(WHOLE);
    }
  }

  private async runOne(step: Step): Promise<void> {
    try {
      if (this.exchange !== undefined) await step(this.exchange);
      if (this.isFailing) this.logger.log('Proofs are exchanged again.');
      this.isFailing = false;
    } catch (error) {
      // The quota, on other tables of the same database, may see nothing of it.
      if (!this.isFailing) this.logger.warn(`Proofs cannot be exchanged (${errorCode(error)}); those in memory hold.`);
      this.isFailing = true;
    }
  }
}
