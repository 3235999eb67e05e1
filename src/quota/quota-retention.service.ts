import { Inject, Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import { CLOCK, type Clock } from '../clock/clock.js';
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

/** A long clean-up is heard of this often. */
const TELL_EVERY_MS = 10_000;

/** Design: "removed after 7 days unseen". */
const INSTANCE_AGE_MS = 7 * DAY_MS;

/** Removes rows of past days and of instances long gone, by the database's clock. Contract: retention days. */
@Injectable()
export class QuotaRetentionService implements OnApplicationBootstrap {
  private readonly logger = new Logger('Quota');

  constructor(
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(CONFIG) private readonly config: Pick<Config, 'quotaRetentionDays'>,
    private readonly schedule: FlushSchedule,
    private readonly repository: QuotaRepository,
    private readonly timers: QuotaTimersService,
  ) {}

  onApplicationBootstrap(): void {
    this.arm(FIRST_MS.shortest + Math.random() * FIRST_MS.spread);
  }

  /**
   * Removes what is over, in small steps, and says what it removed.
   * @returns how many rows of counts were removed
   */
  async removeOld(): Promise<number> {
    const days = this.config.quotaRetentionDays;
    const begunMs = this.clock.monotonicMs();
    let removed = 0;
    let toldMs = begunMs;
    for (let step = 0; step < STEPS; step += 1) {
      const rows = await this.repository.deleteOldUsage(days, STEP_ROWS);
      removed += rows;
      if (rows < STEP_ROWS) break;
      const nowMs = this.clock.monotonicMs();
      if (nowMs - toldMs >= TELL_EVERY_MS) {
        toldMs = nowMs;
        this.logger.log(`Removing counts older than ${days} days: ${removed} rows so far.`);
      }
      await new Promise((resolve) => setTimeout(resolve, STEP_PAUSE_MS).unref());
    }
    const seconds = ((this.clock.monotonicMs() - begunMs) / 1_000).toFixed(1);
    if (removed > 0) this.logger.log(`Removed ${removed} rows of counts older than ${days} days in ${seconds} s.`);
    // An instance with a very long interval is alive although it was not seen for a week.
    await this.repository.deleteOldInstances(Math.max(INSTANCE_AGE_MS, this.schedule.aliveMs));
    return removed;
  }

  private arm(delayMs: number): void {
    this.timers.set('quota-retention', delayMs, () => void this.run());
  }

  private async run(): Promise<void> {
    try {
      await this.removeOld();
    } catch (error) {
      // Two instances may clean up at once and meet a dead-lock; in an hour there is another chance.
      this.logger.debug(`Removing old counts failed (${errorCode(error)}).`);
    } finally {
      this.arm(EVERY_MS);
    }
  }
}
