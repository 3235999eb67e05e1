import { Inject, Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import { CONFIG, type Config } from '../config/config.js';
import { errorCode } from '../control-db/database-error.js';
import { FlushSchedule } from './flush-schedule.js';
import { QuotaTimersService } from './quota-timers.service.js';
import { QuotaRepository } from './quota.repository.js';
import { DAY_MS } from './utc-day.js';

const EVERY_MS = 3_600_000;

/** Instances that start together don't clean up together. */
const FIRST_MS = { shortest: 60_000, spread: 300_000 };

/** Small steps with pauses, so that nobody's flush waits for a lock; what is left over is left for the next hour. */
const STEP_ROWS = 500;
const STEP_PAUSE_MS = 50;
const STEPS = 2_000;

/** Design: "removed after 7 days unseen". */
const INSTANCE_AGE_MS = 7 * DAY_MS;

/** Removes rows of past days and of instances long gone, by the database's clock. Contract: retention days. */
@Injectable()
export class QuotaRetentionService implements OnApplicationBootstrap {
  private readonly logger = new Logger('Quota');

  constructor(
    @Inject(CONFIG) private readonly config: Pick<Config, 'quotaRetentionDays'>,
    private readonly schedule: FlushSchedule,
    private readonly repository: QuotaRepository,
    private readonly timers: QuotaTimersService,
  ) {}

  onApplicationBootstrap(): void {
    this.arm(FIRST_MS.shortest + Math.random() * FIRST_MS.spread);
  }

  /**
   * Removes what is over, in small steps.
   * @returns how many rows of counts were removed
   */
  async removeOld(): Promise<number> {
    let removed = 0;
    for (let step = 0; step < STEPS; step += 1) {
      const rows = await this.repository.deleteOldUsage(this.config.quotaRetentionDays, STEP_ROWS);
      removed += rows;
      if (rows < STEP_ROWS) break;
      await new Promise((resolve) => setTimeout(resolve, STEP_PAUSE_MS).unref());
    }
    // An instance with a very long interval is alive although it was not seen for a week.
    await this.repository.deleteOldInstances(Math.max(INSTANCE_AGE_MS, this.schedule.aliveMs));
    return removed;
  }

  private arm(delayMs: number): void {
    this.timers.set('quota-retention', delayMs, () => void this.run());
  }

  private async run(): Promise<void> {
    try {
      const removed = await this.removeOld();
      if (removed > 0) this.logger.log(`Removed ${removed} counts older than ${this.config.quotaRetentionDays} days.`);
    } catch (error) {
      // Two instances may clean up at once and meet a dead-lock; in an hour there is another chance.
      this.logger.debug(`Removing old counts failed (${errorCode(error)}).`);
    } finally {
      this.arm(EVERY_MS);
    }
  }
}
