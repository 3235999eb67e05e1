import { type DynamicModule, type INestApplicationContext, Logger } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { ScheduleModule } from '@nestjs/schedule';
import type { Clock } from '../../src/clock/clock.js';
import { ClockModule, systemClock } from '../../src/clock/clock.module.js';
import { CONFIG } from '../../src/config/config.js';
import { ControlDatabaseService } from '../../src/control-db/control-database.service.js';
import { HealthRegistry } from '../../src/observability/health-registry.service.js';
import { MetricsService } from '../../src/observability/metrics.service.js';
import type { TelemetryEvent } from '../../src/observability/telemetry-event.js';
import { TelemetryService } from '../../src/observability/telemetry.service.js';
import { QuotaFlusher } from '../../src/quota/quota-flusher.js';
import { QuotaRetentionService } from '../../src/quota/quota-retention.service.js';
import { QuotaModule } from '../../src/quota/quota.module.js';
import { QuotaService } from '../../src/quota/quota.service.js';

/** What one instance is started with. */
export interface QuotaAppOptions {
  readonly url: string;
  readonly dailyQuota?: number;
  readonly flushSeconds?: number;
  readonly retentionDays?: number;
  readonly clock?: Clock;
}

/** One instance's quota, with what it told the rest of the server. */
export interface QuotaApp {
  readonly quota: QuotaService;
  readonly flusher: QuotaFlusher;
  readonly retention: QuotaRetentionService;
  readonly database: ControlDatabaseService;
  readonly events: TelemetryEvent[];
  readonly flushes: string[];
  readonly logLines: string[];
  gauge(name: string): unknown;
  health(): { degraded: boolean; [detail: string]: unknown };
  stop(): Promise<void>;
  /** Ends it as SIGKILL does: without a last flush and a good-bye. */
  kill(): Promise<void>;
}

class SurroundingsModule {}
class TestAppModule {}

class LineLogger {
  readonly lines: string[] = [];
  readonly log = (line: unknown) => void this.lines.push(`log ${String(line)}`);
  readonly warn = (line: unknown) => void this.lines.push(`warn ${String(line)}`);
  readonly error = (line: unknown) => void this.lines.push(`error ${String(line)}`);
}

function fakeObservability() {
  const events: TelemetryEvent[] = [];
  const flushes: string[] = [];
  const gauges = new Map<string, () => unknown>();
  const reads = new Map<string, () => { degraded: boolean }>();
  const values = [
    {
      provide: MetricsService,
      useValue: {
        gauge: (name: string, read: () => unknown) => gauges.set(name, read),
        observeQuotaFlush: (result: string) => flushes.push(result),
      },
    },
    { provide: TelemetryService, useValue: { emit: (event: TelemetryEvent) => events.push(event) } },
    {
      provide: HealthRegistry,
      useValue: { register: (name: string, read: () => { degraded: boolean }) => reads.set(name, read) },
    },
  ];
  return { events, flushes, gauges, reads, values };
}

/** Starts one instance; it has loaded, or given up loading for now, when this resolves. */
export async function startQuota(options: QuotaAppOptions): Promise<QuotaApp> {
  const config = {
    controlDbUrl: options.url,
    shadow: [],
    dailyQuota: options.dailyQuota ?? 1_000,
    quotaFlushSeconds: options.flushSeconds ?? 3_600,
    quotaRetentionDays: options.retentionDays ?? 90,
  };
  const { events, flushes, gauges, reads, values } = fakeObservability();

  const surroundings: DynamicModule = {
    module: SurroundingsModule,
    global: true,
    providers: [{ provide: CONFIG, useValue: config }, ...values],
    exports: [CONFIG, MetricsService, TelemetryService, HealthRegistry],
  };
  const clock = ClockModule.forRoot(options.clock ?? systemClock);
  const root: DynamicModule = {
    module: TestAppModule,
    imports: [surroundings, clock, ScheduleModule.forRoot(), QuotaModule],
  };
  const logger = new LineLogger();
  Logger.overrideLogger(logger);
  const app: INestApplicationContext = await NestFactory.createApplicationContext(root, { logger });
  const database = app.get(ControlDatabaseService, { strict: false });
  const flusher = app.get(QuotaFlusher, { strict: false });
  return {
    quota: app.get(QuotaService, { strict: false }),
    retention: app.get(QuotaRetentionService, { strict: false }),
    flusher,
    database,
    events,
    flushes,
    logLines: logger.lines,
    gauge: (name) => gauges.get(name)?.(),
    health: () => reads.get('controlDatabase')?.() ?? { degraded: true },
    stop: () => app.close(),
    kill: async () => {
      Object.defineProperty(flusher, 'hasUnsent', { value: false });
      flusher.leave = () => Promise.resolve();
      await app.close();
    },
  };
}

/** Makes `times` calls; how many were admitted. */
export function call(app: QuotaApp, tenant: string, times: number): number {
  let admitted = 0;
  for (let n = 0; n < times; n += 1) if (app.quota.tryCount(tenant) >= 0) admitted += 1;
  return admitted;
}

/** A tenant's name as the server has it: 64 hex digits. */
export const tenantName = (n: number): string => n.toString(16).padStart(64, '0');
