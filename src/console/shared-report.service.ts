import { Inject, Injectable } from '@nestjs/common';
import { HealthRegistry } from '../observability/health-registry.service.js';
import { MetricsService } from '../observability/metrics.service.js';
import { NearestToQuota } from '../quota/nearest-to-quota.js';
import { QuotaService } from '../quota/quota.service.js';
import { shownTenant } from '../request/shown-tenant.js';
import type { ConsoleReport } from './console-report.js';

/** What this instance knows of itself and of what it shares with the others. */
@Injectable()
export class SharedReportService {
  constructor(
    private readonly health: HealthRegistry,
    private readonly metrics: MetricsService,
    private readonly service: QuotaService,
    @Inject(NearestToQuota) private readonly nearest: NearestToQuota,
  ) {}

  /** Which instance this is. */
  instance(): Omit<ConsoleReport['instance'], 'upSeconds'> {
    return { id: this.service.instanceId(), shuttingDown: this.health.shuttingDown };
  }

  /** The day's counts and how well they are shared. */
  async quota(): Promise<ConsoleReport['quota']> {
    const { tenants, tenantsToday } = await this.nearest.read();
    const { flushIntervalSeconds, resetsAt, persistenceDegraded } = this.service.status(undefined);
    const database = this.health.states().get('controlDatabase');
    const since = database?.['secondsSinceFlush'];
    return {
      degraded: persistenceDegraded,
      connected: database?.['connected'] === true,
      secondsSinceFlush: typeof since === 'number' ? since : null,
      flushIntervalSeconds,
      flushes: this.metrics.snapshot().quotaFlushes,
      resetsAt,
      liveInstances: this.service.liveInstances(),
      tenantsToday,
      tenants: tenants.map(({ tenant, used, limit }) => ({ tenant: shownTenant(tenant), used, limit })),
    };
  }
}
