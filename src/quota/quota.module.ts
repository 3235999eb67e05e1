import { randomUUID } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { Logger, Module } from '@nestjs/common';
import { CLOCK, type Clock } from '../clock/clock.js';
import { CONFIG, type Config } from '../config/config.js';
import { ControlDbModule } from '../control-db/control-db.module.js';
import { MetricsService } from '../observability/metrics.service.js';
import { TenantLimitsModule } from '../tenant-limits/tenant-limits.module.js';
import { TenantLimitsService } from '../tenant-limits/tenant-limits.service.js';
import { BatchSender } from './batch-sender.js';
import { FlushSchedule } from './flush-schedule.js';
import { NearestToQuota } from './nearest-to-quota.js';
import { QuotaCounter } from './quota-counter.js';
import { QuotaFlushService } from './quota-flush.service.js';
import { QuotaFlusher } from './quota-flusher.js';
import { QUOTA_LIMITS, type QuotaLimits } from './quota-limits.js';
import { QuotaOnDemandService } from './quota-on-demand.service.js';
import { QuotaPersistenceService } from './quota-persistence.service.js';
import { QuotaRetentionService } from './quota-retention.service.js';
import { QuotaTimersService } from './quota-timers.service.js';
import { QuotaRepository } from './quota.repository.js';
import { QuotaService } from './quota.service.js';
import { ShadowQuotaCounter } from './shadow-quota-counter.js';
import { TotalsReader } from './totals-reader.js';

function createLimits(config: Config, { limits }: TenantLimitsService): QuotaLimits {
  const limitOf = (tenant: string | undefined): number =>
    (tenant === undefined ? undefined : limits.of(tenant)?.callsPerUtcDay) ?? config.dailyQuota;
  return { flushIntervalSeconds: config.quotaFlushSeconds, shadowed: config.shadow.includes('quota'), limitOf };
}

function createCounter(clock: Clock, { limitOf, shadowed }: QuotaLimits, metrics: MetricsService): QuotaCounter {
  if (!shadowed) return new QuotaCounter(clock, limitOf);
  return new ShadowQuotaCounter(clock, limitOf, (surface) => metrics.countShadowRefusal('quota', surface));
}

function createSchedule(clock: Clock, config: Config): FlushSchedule {
  return new FlushSchedule(clock, config.quotaFlushSeconds * 1_000, Math.random);
}

function createFlusher(
  counter: QuotaCounter,
  store: QuotaRepository,
  clock: Clock,
  schedule: FlushSchedule,
  metrics: MetricsService,
): QuotaFlusher {
  const pause = () => setImmediate();
  const logger = new Logger('Quota');
  const dropped = (calls: number) =>
    logger.error(`A batch of ${calls} calls could not be resolved: the row of this instance is gone. It is dropped.`);
  const sender = new BatchSender(store, counter.outbox, randomUUID, dropped);
  const reader = new TotalsReader(store, counter, clock, schedule.aliveMs, pause);
  const flusher = new QuotaFlusher(counter, sender, reader, pause);
  metrics.gauge('tidb_mcp_live_instances', () => flusher.liveInstances);
  return flusher;
}

function createNearest(clock: Clock, counter: QuotaCounter, { limitOf }: QuotaLimits): NearestToQuota {
  return new NearestToQuota(
    clock,
    () => counter.rowsOfToday(),
    limitOf,
    () => setImmediate(),
  );
}

/** The daily quota over all instances. Needs `ScheduleModule.forRoot()` in the application. */
@Module({
  imports: [ControlDbModule, TenantLimitsModule],
  providers: [
    { provide: QUOTA_LIMITS, inject: [CONFIG, TenantLimitsService], useFactory: createLimits },
    {
      provide: QuotaCounter,
      inject: [CLOCK, QUOTA_LIMITS, MetricsService],
      useFactory: createCounter,
    },
    { provide: FlushSchedule, inject: [CLOCK, CONFIG], useFactory: createSchedule },
    {
      provide: QuotaFlusher,
      inject: [QuotaCounter, QuotaRepository, CLOCK, FlushSchedule, MetricsService],
      useFactory: createFlusher,
    },
    { provide: NearestToQuota, inject: [CLOCK, QuotaCounter, QUOTA_LIMITS], useFactory: createNearest },
    QuotaRepository,
    QuotaTimersService,
    QuotaPersistenceService,
    QuotaOnDemandService,
    QuotaFlushService,
    QuotaRetentionService,
    QuotaService,
  ],
  exports: [QuotaService, QuotaFlushService, NearestToQuota],
})
export class QuotaModule {}
