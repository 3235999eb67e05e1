import type { Logger } from '@nestjs/common';
import type { Clock } from '../../src/clock/clock.js';
import type { ConnectionListener, ControlDatabaseService } from '../../src/control-db/control-database.service.js';
import type { HealthRegistry } from '../../src/observability/health-registry.service.js';
import type { MetricsService } from '../../src/observability/metrics.service.js';
import type { TelemetryService } from '../../src/observability/telemetry.service.js';
import { BatchSender } from '../../src/quota/batch-sender.js';
import { FlushSchedule } from '../../src/quota/flush-schedule.js';
import { QuotaCounter } from '../../src/quota/quota-counter.js';
import { type FlushFollower, QuotaFlushService } from '../../src/quota/quota-flush.service.js';
import { QuotaFlusher } from '../../src/quota/quota-flusher.js';
import { QuotaOnDemandService } from '../../src/quota/quota-on-demand.service.js';
import { QuotaPersistenceService } from '../../src/quota/quota-persistence.service.js';
import type { QuotaTimers } from '../../src/quota/quota-timers.service.js';
import { TotalsReader } from '../../src/quota/totals-reader.js';
import { ModelledStore, type ModelledDatabase, type Weather } from './modelled-database.js';
import type { VirtualTime } from './virtual-time.js';

/** Named timers in virtual time; a crash takes them all. */
class VirtualTimers implements QuotaTimers {
  private readonly due = new Map<string, () => void>();
  private stopped = false;

  constructor(private readonly time: VirtualTime) {}

  set(name: string, delayMs: number, work: () => void): void {
    this.clear(name);
    if (this.stopped) return;
    const cancel = this.time.after(delayMs, () => {
      this.due.delete(name);
      work();
    });
    this.due.set(name, cancel);
  }

  has(name: string): boolean {
    return this.due.has(name);
  }

  clear(name: string): void {
    this.due.get(name)?.();
    this.due.delete(name);
  }

  stop(): void {
    this.stopped = true;
    for (const name of this.due.keys()) this.clear(name);
  }

  pause(delayMs: number): Promise<void> {
    return this.time.sleep(delayMs);
  }

  within<T>(timeoutMs: number, work: Promise<T>): Promise<T | undefined> {
    return Promise.race([work, this.time.sleep(timeoutMs).then(() => undefined)]);
  }
}

/** What an instance lives in. */
export interface Surroundings {
  readonly time: VirtualTime;
  readonly epochMs: number;
  readonly database: ModelledDatabase;
  readonly random: () => number;
  readonly intervalMs: number;
  readonly quota: number;
  weather(): Weather;
}

/** A day's calls of one tenant. */
export const keyOf = (utcDay: number, tenant: string): string => `${utcDay} ${tenant}`;

function add(map: Map<string, number>, key: string, calls: number): void {
  map.set(key, (map.get(key) ?? 0) + calls);
}

/**
 * One server: the real counter, sender, reader, flusher and the services that drive them, over a modelled database. It
 * keeps its own books of what it admitted and what was committed of it, which the real code knows nothing of.
 */
export class SimulatedInstance {
  readonly counted = new Map<string, number>();
  readonly committed = new Map<string, number>();
  /** What had been counted when the last flush that succeeded began. */
  safe = new Map<string, number>();
  /** Calls in batches that could not be resolved because the instance's row was gone. */
  dropped = 0;
  /** Added to the true time on this machine's wall clock. */
  clockOffsetMs = 0;
  alive = false;
  /** It was ended by SIGTERM and had its last flush. */
  hadLastFlush = false;
  /** It said at its end that calls are lost. */
  saidLost = false;
  readonly counter: QuotaCounter;
  readonly flusher: QuotaFlusher;
  private ids = 0;
  private readonly store: ModelledStore;
  private readonly timers: VirtualTimers;
  private persistence!: QuotaPersistenceService;
  protected onDemand!: QuotaOnDemandService;
  private readonly flushService: QuotaFlushService;

  constructor(
    private readonly surroundings: Surroundings,
    name: string,
  ) {
    const { time, epochMs, database, random, intervalMs, quota } = surroundings;
    const clock: Clock = {
      monotonicMs: () => time.nowMs,
      utcMs: () => epochMs + time.nowMs + this.clockOffsetMs,
    };
    this.timers = new VirtualTimers(time);
    this.store = new ModelledStore(
      database,
      () => surroundings.weather(),
      random,
      (deltas) => {
        for (const { utcDay, tenant, calls } of deltas) add(this.committed, keyOf(utcDay, tenant), calls);
      },
    );
    this.counter = new QuotaCounter(clock, () => quota);
    const schedule = new FlushSchedule(clock, intervalMs, random);
    const newId = () => `${name}.${(this.ids += 1)}`;
    const sender = new BatchSender(this.store, this.counter.outbox, newId, (calls) => (this.dropped += calls));
    const pause = () => Promise.resolve();
    const reader = new TotalsReader(this.store, this.counter, clock, schedule.aliveMs, pause);
    this.flusher = new QuotaFlusher(this.counter, sender, reader, pause);
    this.keepBooksOfFlushes();
    this.flushService = this.wire(clock, schedule);
    this.listenForLosses();
  }

  /** Boots: loads the totals, or gives up loading for now, and is ready then. */
  async start(): Promise<void> {
    await this.flushService.onApplicationBootstrap();
    this.alive = true;
  }

  /** The UTC day that this machine's wall clock shows. */
  wallDay(): number {
    const { epochMs, time } = this.surroundings;
    return Math.floor((epochMs + time.nowMs + this.clockOffsetMs) / 86_400_000);
  }

  /** Whether quota persistence is degraded here. */
  get isDegraded(): boolean {
    return this.persistence.isDegraded;
  }

  /** How often the instance had to take a new id. */
  get renewals(): number {
    return this.ids - 1;
  }

  /** One call that arrives here; the day it was counted on, or -1. */
  call(tenant: string): number {
    const utcDay = this.counter.tryCount(tenant);
    if (utcDay >= 0) add(this.counted, keyOf(utcDay, tenant), 1);
    return utcDay;
  }

  /** Tells `follower` of this instance's flushes and reads. */
  follow(follower: FlushFollower): void {
    this.flushService.follow(follower);
  }

  /** SIGKILL. */
  crash(): void {
    this.alive = false;
    this.store.dead = true;
    this.timers.stop();
  }

  /** SIGTERM: no more calls, one last flush, the end. */
  async shutDown(): Promise<void> {
    this.alive = false;
    await this.flushService.onApplicationShutdown();
    this.hadLastFlush = true;
    this.store.closed = true;
  }

  private listenForLosses(): void {
    const { logger } = this.flushService as unknown as { logger: Logger };
    const say = logger.error.bind(logger);
    logger.error = (line: string) => {
      this.saidLost ||= line.includes('calls are lost');
      say(line);
    };
  }

  private keepBooksOfFlushes(): void {
    const flush = this.flusher.flush.bind(this.flusher);
    this.flusher.flush = async () => {
      const counted = new Map(this.counted);
      await flush();
      this.safe = counted;
    };
  }

  /** The parts of the server that the quota only tells something are stood in for. */
  private wire(clock: Clock, schedule: FlushSchedule): QuotaFlushService {
    const listeners: ConnectionListener[] = [];
    const database = {
      target: 'model',
      isConnected: true,
      listen: (listener: ConnectionListener) => listeners.push(listener),
      beforeClose: () => undefined,
      open: () => listeners.forEach((listener) => listener.connected?.()),
    } as unknown as ControlDatabaseService;
    this.persistence = new QuotaPersistenceService(
      clock,
      database,
      { gauge: () => undefined, observeQuotaFlush: () => undefined } as unknown as MetricsService,
      { emit: () => undefined } as unknown as TelemetryService,
      { register: () => undefined } as unknown as HealthRegistry,
    );
    this.onDemand = new QuotaOnDemandService(this.counter, this.flusher, this.timers, this.persistence);
    return new QuotaFlushService(this.flusher, schedule, this.timers, this.persistence, database);
  }
}
