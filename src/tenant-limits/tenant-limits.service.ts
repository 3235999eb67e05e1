import { Inject, Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import { CONFIG, type Config } from '../config/config.js';
import { ControlDatabaseService } from '../control-db/control-database.service.js';
import { errorCode } from '../control-db/database-error.js';
import { TenantLimitRepository } from './tenant-limit.repository.js';
import { MAX_TENANT_LIMITS, TenantLimits } from './tenant-limits.js';

const LONGEST_TIMER_MS = 3_600_000;

/**
 * Keeps the tenants' own limits up to date: read when the database is connected and then once an interval, in the
 * background. While the database is away the last known ones hold.
 */
@Injectable()
export class TenantLimitsService implements OnApplicationShutdown {
  /** What the layers and the quota look into. */
  readonly limits = new TenantLimits();
  private readonly logger = new Logger('TenantLimits');
  private readonly intervalMs: number;
  private timer: NodeJS.Timeout | undefined;
  private reading = false;
  private stopped = false;
  private warned = false;

  constructor(
    @Inject(CONFIG) config: Config,
    private readonly repository: TenantLimitRepository,
    database: ControlDatabaseService,
  ) {
    // Half an interval, so that a change is in force within one, whenever it was made.
    this.intervalMs = Math.min((config.quotaFlushSeconds * 1000) / 2, LONGEST_TIMER_MS);
    database.listen({ connected: () => void this.refresh() });
  }

  onApplicationShutdown(): void {
    this.stopped = true;
    clearTimeout(this.timer);
  }

  /** Reads all of them; failures are told to the log alone, since the quota tells of a database that is away. */
  async refresh(): Promise<void> {
    if (this.reading) return;
    this.reading = true;
    clearTimeout(this.timer);
    try {
      const rows = await this.repository.list();
      if (rows.length > MAX_TENANT_LIMITS && !this.warned) {
        this.warned = true;
        this.logger.warn(`More than ${MAX_TENANT_LIMITS} tenants have limits of their own; the rest are not in force.`);
      }
      this.limits.replace(rows);
    } catch (error) {
      this.logger.debug(`Reading the tenants' own limits failed (${errorCode(error)}); the last known ones hold.`);
    }
    this.reading = false;
    if (!this.stopped) this.timer = setTimeout(() => void this.refresh(), this.intervalMs).unref();
  }
}
