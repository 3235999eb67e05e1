import { Inject, Injectable, Logger } from '@nestjs/common';
import { errorCode } from '../control-db/database-error.js';
import { QuotaCounter } from './quota-counter.js';
import { QuotaFlusher } from './quota-flusher.js';
import { QuotaPersistenceService } from './quota-persistence.service.js';
import { type QuotaTimers, QuotaTimersService } from './quota-timers.service.js';

/** What is asked for within this time is done together. */
const GATHER_MS = 20;

/**
 * What can't wait for the next flush: tenants near their edge, totals that memory lacks, a day that has just begun.
 * While persistence is degraded nothing of it is tried; the regular flush finds out when the database is back.
 */
@Injectable()
export class QuotaOnDemandService {
  private readonly logger = new Logger('Quota');
  private uncountedTold = 0;

  constructor(
    private readonly counter: QuotaCounter,
    private readonly flusher: QuotaFlusher,
    @Inject(QuotaTimersService) private readonly timers: QuotaTimers,
    private readonly persistence: QuotaPersistenceService,
  ) {
    counter.listen({
      dayOpened: () => this.armDay(),
      earlyWanted: () => this.armEarly(),
      rowLacking: (tenant) => {
        this.flusher.want(tenant);
        this.armWanted();
      },
    });
    persistence.listen({
      recovered: () => {
        this.tellUncounted();
        this.armEarly();
        this.armWanted();
      },
    });
  }

  /** Once an outage is over: whether it lasted longer than memory could count. */
  private tellUncounted(): void {
    const calls = this.counter.uncountedCalls - this.uncountedTold;
    if (calls === 0) return;
    this.uncountedTold += calls;
    this.logger.warn(`Memory was full of counts that could not be stored: ${calls} calls passed uncounted.`);
  }

  private armDay(): void {
    this.arm('quota-day', GATHER_MS, 'read', () => this.flusher.read());
  }

  private armEarly(): void {
    const waitMs = this.counter.outbox.earlyWaitMs();
    if (waitMs === undefined) return;
    this.arm('quota-early', Math.max(GATHER_MS, waitMs), 'flush', async () => {
      await this.flusher.flushEarly();
      this.armEarly();
    });
  }

  private armWanted(): void {
    if (!this.flusher.hasWanted) return;
    this.arm('quota-wanted', GATHER_MS, 'read', async () => {
      await this.flusher.readWanted();
      this.armWanted();
    });
  }

  private arm(name: string, delayMs: number, step: 'flush' | 'read', work: () => Promise<unknown>): void {
    if (this.timers.has(name)) return;
    this.timers.set(name, delayMs, () => {
      if (this.persistence.isDegraded) return;
      work().catch((error: unknown) => this.persistence.failed(step, errorCode(error)));
    });
  }
}
