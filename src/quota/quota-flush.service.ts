import { Inject, Injectable, Logger, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { ControlDatabaseService } from '../control-db/control-database.service.js';
import { errorCode } from '../control-db/database-error.js';
import { UNIT_TIMEOUT_MS } from '../control-db/sql-dialect.js';
import { FlushSchedule } from './flush-schedule.js';
import { QuotaFlusher } from './quota-flusher.js';
import { QuotaPersistenceService } from './quota-persistence.service.js';
import { type QuotaTimers, QuotaTimersService } from './quota-timers.service.js';

/** Contract: `TIDB_MCP_SHUTDOWN_GRACE_SECONDS`, "the last flush 5 s". */
const LAST_FLUSH_MS = 5_000;
const LAST_FLUSH_RETRY_MS = 200;

/** Signing off is a courtesy to whoever counts the live instances, and holds nobody up. */
const SIGN_OFF_MS = 1_000;

/** What else is exchanged with the control database at the quota's moments, after it and without holding it up. */
export interface FlushFollower {
  /** After each flush, whatever it came to. */
  flushed(): void;
  /** After each further read. */
  readAgain(): void;
  /** On shutdown, after the last flush has succeeded; it gets two seconds. */
  flushedLast(): Promise<void>;
}

/**
 * Pushes deltas and adopts totals at multiples of the flush interval, after every connect, sooner after a failure, and
 * one last time on shutdown. No request ever waits for any of it. Design: "The shared quota, exactly".
 */
@Injectable()
export class QuotaFlushService implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger('Quota');
  private readonly followers: FlushFollower[] = [];
  private cycle: Promise<boolean> | undefined;
  private failures = 0;
  private last: Promise<void> | undefined;
  private isOver = false;
  /** Everything is stored, and the followers were asked for the last time. */
  private hasLeft = false;

  constructor(
    private readonly flusher: QuotaFlusher,
    private readonly schedule: FlushSchedule,
    @Inject(QuotaTimersService) private readonly timers: QuotaTimers,
    private readonly persistence: QuotaPersistenceService,
    private readonly database: ControlDatabaseService,
  ) {
    persistence.listen({ degraded: () => this.armRetry() });
    database.beforeClose(() => this.flushLast());
  }

  /** Tells `follower` of every flush and read from now on. */
  follow(follower: FlushFollower): void {
    this.followers.push(follower);
  }

  /** Loads the day's totals before the server listens, for two seconds at the most. */
  async onApplicationBootstrap(): Promise<void> {
    const loaded = new Promise<true>((resolve) => {
      this.database.listen({ connected: () => void this.flushAndRead().then((ok) => ok && resolve(true)) });
    });
    this.database.open();
    const inTime = await this.timers.within(UNIT_TIMEOUT_MS, loaded);
    if (inTime === undefined) this.persistence.failed('load', 'TIMEOUT');
    this.armFlush();
  }

  async onApplicationShutdown(): Promise<void> {
    await this.flushLast();
  }

  private armFlush(): void {
    this.timers.set('quota-flush', this.schedule.untilFlushMs(), () => void this.flushOnTime());
  }

  private async flushOnTime(): Promise<void> {
    await this.flushAndRead();
    this.schedule.untilReadsMs().forEach((delayMs, index) => {
      this.timers.set(`quota-read-${index}`, delayMs, () => void this.readAgain());
    });
    this.armFlush();
  }

  private async readAgain(): Promise<void> {
    await this.read();
    this.tellFollowers('readAgain');
  }

  private armRetry(): void {
    if (this.timers.has('quota-retry')) return;
    this.timers.set('quota-retry', this.schedule.untilRetryMs(this.failures), () => void this.flushAndRead());
  }

  /** One flush and the read that follows it; whoever asks while one is in progress gets that one. */
  private flushAndRead(): Promise<boolean> {
    this.cycle ??= this.runCycle().finally(() => {
      this.cycle = undefined;
    });
    return this.cycle;
  }

  private async runCycle(): Promise<boolean> {
    const ok = (await this.flush()) && (await this.read());
    this.failures = ok ? 0 : this.failures + 1;
    if (ok) this.timers.clear('quota-retry');
    else this.armRetry();
    this.tellFollowers('flushed');
    return ok;
  }

  private tellFollowers(of: 'flushed' | 'readAgain'): void {
    if (this.hasLeft) return;
    for (const follower of this.followers) follower[of]();
  }

  private async flush(): Promise<boolean> {
    const ended = this.persistence.beginFlush();
    try {
      await this.flusher.flush();
      ended('ok');
      this.persistence.succeeded('flush');
      return true;
    } catch (error) {
      ended(this.flusher.isUncertain ? 'unknown' : 'failed');
      this.persistence.failed('flush', errorCode(error));
      return false;
    }
  }

  private async read(): Promise<boolean> {
    try {
      const adopted = await this.flusher.read();
      if (adopted) this.persistence.succeeded('read');
      return adopted;
    } catch (error) {
      this.persistence.failed('read', errorCode(error));
      return false;
    }
  }

  private flushLast(): Promise<void> {
    this.last ??= this.flushAtLast();
    return this.last;
  }

  private async flushAtLast(): Promise<void> {
    this.timers.stop();
    if ((await this.timers.within(LAST_FLUSH_MS, this.flushUntilStored())) === true) return this.takeLeave();
    this.isOver = true;
    const { calls, uncertain } = this.flusher.unsent;
    const perhaps = uncertain === 0 ? '' : `, ${uncertain} of them perhaps not`;
    this.logger.error(`The last flush failed: ${calls} calls are lost${perhaps}.`);
  }

  private async flushUntilStored(): Promise<true> {
    const { calls } = this.flusher.unsent;
    if (calls !== 0) this.logger.log(`Storing the last calls (${calls}).`);
    for (let isFirst = true; this.flusher.hasUnsent && !this.isOver; isFirst = false) {
      if (await this.flush()) continue;
      if (isFirst) this.logger.warn(`${this.database.target} does not take the last calls: trying on, for 5 s in all.`);
      await this.timers.pause(LAST_FLUSH_RETRY_MS);
    }
    return true;
  }

  private async takeLeave(): Promise<void> {
    if (!this.persistence.isReached) return;
    this.hasLeft = true;
    this.persistence.end();
    const last = Promise.all(this.followers.map((follower) => follower.flushedLast()));
    await Promise.all([this.signOff(), this.timers.within(UNIT_TIMEOUT_MS, last)]);
  }

  private async signOff(): Promise<void> {
    await this.timers.within(
      SIGN_OFF_MS,
      this.flusher.leave().catch((error: unknown) => this.logger.debug(`Signing off failed (${errorCode(error)}).`)),
    );
  }
}
