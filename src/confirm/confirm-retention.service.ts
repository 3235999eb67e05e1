import { Inject, Injectable, Logger, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { CLOCK, type Clock } from '../clock/clock.js';
import { errorCode } from '../control-db/database-error.js';
import { NonceLedger } from './nonce-ledger.repository.js';

const EVERY_MS = 3_600_000;

/** Instances that start together don't clean up together. */
const FIRST_MS = { shortest: 60_000, spread: 300_000 };

/** A used confirmation still answers its outcome for this long after its life is over. */
const KEPT_MS = 86_400_000;

/** Small steps with pauses, so that no confirm waits for a lock; what is left over is left for the next hour. */
const STEP_ROWS = 500;
const STEP_PAUSE_MS = 50;
const STEPS = 2_000;

/** Removes confirmations a day after they expired. */
@Injectable()
export class ConfirmRetentionService implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly logger = new Logger('Confirm');
  private timer: NodeJS.Timeout | undefined;
  private stopped = false;

  constructor(
    @Inject(CLOCK) private readonly clock: Clock,
    private readonly ledger: NonceLedger,
  ) {}

  onApplicationBootstrap(): void {
    this.arm(FIRST_MS.shortest + Math.random() * FIRST_MS.spread);
  }

  onModuleDestroy(): void {
    this.stopped = true;
    clearTimeout(this.timer);
  }

  /**
   * Removes what is over, in small steps, and says what it removed.
   * @returns how many rows were removed
   */
  async removeExpired(): Promise<number> {
    const begunMs = this.clock.monotonicMs();
    let removed = 0;
    for (let step = 0; step < STEPS && !this.stopped; step += 1) {
      const rows = await this.ledger.deleteExpired(KEPT_MS, STEP_ROWS);
      removed += rows;
      if (rows < STEP_ROWS) break;
      await new Promise((resolve) => setTimeout(resolve, STEP_PAUSE_MS).unref());
    }
    const seconds = ((this.clock.monotonicMs() - begunMs) / 1_000).toFixed(1);
    if (removed > 0)
      this.logger.log(`Removed ${removed} confirmations that expired a day ago or earlier in ${seconds} s.`);
    return removed;
  }

  private arm(delayMs: number): void {
    if (this.stopped) return;
    this.timer = setTimeout(() => void this.run(), delayMs).unref();
  }

  private async run(): Promise<void> {
    try {
      await this.removeExpired();
    } catch (error) {
      this.logger.debug(`Removing expired confirmations failed (${errorCode(error)}).`);
    } finally {
      this.arm(EVERY_MS);
    }
  }
}
