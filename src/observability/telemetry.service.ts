import { Inject, Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import { CLOCK, type Clock } from '../clock/clock.js';
import { CONFIG, type Config } from '../config/config.js';
import type { Surface } from '../errors/error-body.js';
import type { Limit } from '../request/request-context.js';
import { LIMITS, SURFACES } from './labels.js';
import { LossReport } from './loss-report.js';
import { MetricsService } from './metrics.service.js';
import type { TelemetryEvent } from './telemetry-event.js';
import { TelemetryPump, type Waiting } from './telemetry-pump.adapter.js';
import { TelemetrySampler } from './telemetry-sampler.js';
import { COLLECTOR_SINK, TELEMETRY_SINK, type TelemetrySink } from './telemetry-sink.js';

/** Half of the second after which what is held back must be out: the timer may be late under load. */
const HELD_MS = 500;
/** How long a rendering of the metrics waits for events that are on their way. */
const SETTLE_MS = 100;
/** How long the last flush may take. */
const LAST_FLUSH_MS = 2000;

/** A layer on a surface: what is sampled by itself. */
const SLOTS = LIMITS.flatMap((limit) => SURFACES.map((surface) => ({ limit, surface })));
const LIMIT_OFFSET = { preauth: 0, tenant: 3, quota: 6, global: 9 } as const satisfies Record<Limit, number>;
const SURFACE_INDEX = { mcp: 0, v1: 1, other: 2 } as const satisfies Record<Surface, number>;

/**
 * Tells what happens, event by event, without ever holding a request up. Refusals come at an attacker's rate: over a
 * threshold they are counted and told together, so that what the events stand for adds up to the refusals in the
 * metrics; no other kind is sampled. Spec: "Observability"; contract: "Telemetry events".
 */
@Injectable()
export class TelemetryService implements OnApplicationShutdown {
  readonly #sampler: TelemetrySampler;
  readonly #pump: TelemetryPump | undefined;
  /** Of its own, so that a collector that is away holds the first sink up in nothing. */
  readonly #copies: TelemetryPump | undefined;
  /** Since when this instance serves; undefined before. */
  #servesSinceMs: number | undefined = undefined;
  #timer: NodeJS.Timeout | undefined;
  #closed = false;
  readonly #report: LossReport;
  readonly #collectorReport: LossReport;

  constructor(
    @Inject(CONFIG) private readonly config: Config,
    @Inject(CLOCK) private readonly clock: Clock,
    private readonly metrics: MetricsService,
    @Inject(TELEMETRY_SINK) sink: TelemetrySink | null,
    @Inject(COLLECTOR_SINK) private readonly collector: TelemetrySink | null = null,
  ) {
    const logger = new Logger('Telemetry');
    const warn = (message: string) => logger.warn(message);
    this.#report = new LossReport('The telemetry sink', clock, warn);
    this.#collectorReport = new LossReport('The OpenTelemetry collector', clock, warn);
    this.#sampler = new TelemetrySampler(SLOTS.length, config.telemetryFloodThreshold);
    if (sink === null) return;
    const settled = (event: Waiting, arrived: boolean, reason?: string) => this.#settled(event, arrived, reason);
    this.#pump = new TelemetryPump(sink, config.telemetryQueueMax, settled);
    this.#copies = collector === null ? undefined : this.#copiesTo(collector);
    metrics.beforeRendering(() => this.#settle());
  }

  /** Tells one event; a full queue drops it, counted. Refusals go through {@link refused}. */
  emit(event: TelemetryEvent): void {
    if (this.#pump === undefined) return;
    if (!this.#offer(event, 0)) this.metrics.countTelemetry(event.event, 'dropped');
  }

  /**
   * Tells one refusal, or holds it back for the next event of its layer and surface. Constant time, and past the
   * threshold without an allocation.
   * @param tenant the whole fingerprint, or null where the request had no proven credential
   */
  refused(limit: Limit, surface: Surface, tenant: string | null): void {
    if (this.#pump === undefined || this.#closed) {
      this.metrics.countRepresented('dropped', 1);
      return;
    }
    const slot = LIMIT_OFFSET[limit] + SURFACE_INDEX[surface];
    const represents = this.#sampler.count(slot, this.clock.monotonicMs());
    const told = represents > 0 && this.#offerRefusals(slot, represents, represents === 1 ? tenant : null);
    if (told) return;
    this.metrics.countTelemetry('rate_limited', 'sampled');
    this.#arm();
  }

  /** Tells that this instance serves from now on; without it the end tells no stop either. */
  serves(): void {
    this.#servesSinceMs = this.clock.monotonicMs();
    this.emit({ event: 'server_started', transport: this.config.transport });
  }

  /** Tells what is held back and the stop itself, and waits for the sink, two seconds at the most. */
  async onApplicationShutdown(): Promise<void> {
    if (this.#pump !== undefined) await this.#lastFlush(this.#pump);
    this.#close();
    this.collector?.close?.();
  }

  async #lastFlush(pump: TelemetryPump): Promise<void> {
    const deadlineMs = this.clock.monotonicMs() + LAST_FLUSH_MS;
    const drained = () => pump.idle(Math.max(1, deadlineMs - this.clock.monotonicMs()));
    // A full queue may take what is held back only in several rounds; each one that drains makes progress.
    do this.#flushHeld();
    while ((await drained()) && this.#sampler.totalHeld > 0);
    if (this.#servesSinceMs !== undefined) {
      const uptimeSeconds = Math.round((this.clock.monotonicMs() - this.#servesSinceMs) / 1000);
      this.emit({ event: 'server_stopped', uptimeSeconds });
    }
    await drained();
    await this.#copies?.idle(Math.max(1, deadlineMs - this.clock.monotonicMs()));
  }

  #close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
    this.#pump?.close();
    this.#copies?.close();
    for (const slot of SLOTS.keys()) this.metrics.countRepresented('dropped', this.#sampler.take(slot));
  }

  #offerRefusals(slot: number, representsCount: number, tenant: string | null): boolean {
    const { limit, surface } = SLOTS[slot] ?? { limit: 'global', surface: 'other' };
    const event: TelemetryEvent = { event: 'rate_limited', limit, surface, tenant, representsCount };
    if (this.#offer(event, representsCount)) return true;
    this.#sampler.hold(slot, representsCount);
    return false;
  }

  /** Queues an event, and where there is a collector its copy; only what the first queue takes is copied. */
  #offer(event: TelemetryEvent, representsCount: number): boolean {
    const waiting = { event, atUtcMs: this.clock.utcMs(), representsCount };
    if (this.#pump?.offer(waiting) !== true) return false;
    if (this.#copies?.offer(waiting) === false) this.metrics.countCollectorEvent('dropped');
    return true;
  }

  #copiesTo(collector: TelemetrySink): TelemetryPump {
    return new TelemetryPump(collector, this.config.telemetryQueueMax, (_event, arrived, reason) => {
      this.metrics.countCollectorEvent(arrived ? 'sent' : 'dropped');
      if (!arrived) this.#collectorReport.lost(reason);
    });
  }

  #flushHeld(): void {
    for (const slot of SLOTS.keys()) {
      const held = this.#sampler.take(slot);
      if (held > 0) this.#offerRefusals(slot, held, null);
    }
  }

  #arm(): void {
    if (this.#timer !== undefined) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#flushHeld();
      if (this.#sampler.totalHeld > 0) this.#arm();
    }, HELD_MS).unref();
  }

  async #settle(): Promise<void> {
    this.#flushHeld();
    await this.#pump?.idle(SETTLE_MS);
  }

  #settled({ event, representsCount }: Waiting, arrived: boolean, reason: string | undefined): void {
    const result = arrived ? 'sent' : 'dropped';
    this.metrics.countTelemetry(event.event, result);
    if (representsCount > 0) this.metrics.countRepresented(result, representsCount);
    if (!arrived) this.#report.lost(reason);
  }
}
