import { Inject, Injectable, Logger } from '@nestjs/common';
import { CLOCK, type Clock } from '../clock/clock.js';
import { ControlDatabaseService } from '../control-db/control-database.service.js';
import { HealthRegistry } from '../observability/health-registry.service.js';
import { MetricsService } from '../observability/metrics.service.js';
import { TelemetryService } from '../observability/telemetry.service.js';
import { PersistenceState, type PersistenceStep } from './persistence-state.js';

/** Who acts on the beginning or the end of degradation. */
export interface PersistenceListener {
  degraded?(): void;
  recovered?(): void;
}

/** Keeps and publishes whether the quota is being persisted: one log line and one event per beginning and end. */
@Injectable()
export class QuotaPersistenceService {
  private readonly logger = new Logger('Quota');
  private readonly state = new PersistenceState();
  private readonly listeners: PersistenceListener[] = [];
  private lastFlushAtMs: number | undefined;
  private hasEnded = false;

  constructor(
    @Inject(CLOCK) private readonly clock: Clock,
    private readonly database: ControlDatabaseService,
    private readonly metrics: MetricsService,
    private readonly telemetry: TelemetryService,
    health: HealthRegistry,
  ) {
    metrics.gauge('tidb_mcp_quota_persistence_degraded', () => (this.isDegraded ? 1 : 0));
    health.register('controlDatabase', () => this.details());
    database.listen({
      connected: () => this.state.connected(),
      connectFailed: (code) => this.failed('connect', code),
    });
  }

  /** Contract: `persistenceDegraded`. */
  get isDegraded(): boolean {
    return this.state.isDegraded;
  }

  /** Whether the last exchange with the control database did its part. */
  get isReached(): boolean {
    return this.database.isConnected && this.state.isReached;
  }

  /** Tells `listener` from now on. */
  listen(listener: PersistenceListener): void {
    this.listeners.push(listener);
  }

  /** Notes that a step failed or took too long; `code` is the driver's, or one of ours. */
  failed(step: PersistenceStep, code: string): void {
    if (this.hasEnded || !this.state.failed(this.clock.monotonicMs())) return;
    this.logger.warn(
      `Quota persistence is degraded (${step}: ${code}, ${this.database.target}); counting goes on in memory.`,
    );
    this.telemetry.emit({ event: 'quota_degraded', reason: `${step}: ${code}` });
    for (const listener of this.listeners) listener.degraded?.();
  }

  /** Everything is stored and the instance goes: what fails from here on fails because of that, and is no outage. */
  end(): void {
    this.hasEnded = true;
  }

  /** Notes that a flush or a read did its part. */
  succeeded(step: 'flush' | 'read'): void {
    const nowMs = this.clock.monotonicMs();
    if (step === 'flush') this.lastFlushAtMs = nowMs;
    const lastedMs = this.state.succeeded(step, nowMs);
    if (lastedMs === undefined) return;
    const degradedSeconds = Math.round(lastedMs / 1_000);
    this.logger.log(`Quota persistence has recovered after ${degradedSeconds} s.`);
    this.telemetry.emit({ event: 'quota_recovered', degradedSeconds });
    for (const listener of this.listeners) listener.recovered?.();
  }

  /** Measures one flush; the function that is returned is called with its result. */
  beginFlush(): (result: 'ok' | 'failed' | 'unknown') => void {
    const begunMs = this.clock.monotonicMs();
    return (result) => this.metrics.observeQuotaFlush(result, (this.clock.monotonicMs() - begunMs) / 1_000);
  }

  private details(): { degraded: boolean; connected: boolean; secondsSinceFlush: number | null } {
    const sinceMs = this.lastFlushAtMs === undefined ? null : this.clock.monotonicMs() - this.lastFlushAtMs;
    return {
      degraded: this.isDegraded,
      connected: this.isReached,
      secondsSinceFlush: sinceMs === null ? null : Math.floor(sinceMs / 1_000),
    };
  }
}
