import { Module } from '@nestjs/common';
import { ThrottlerModule, type ThrottlerModuleOptions } from '@nestjs/throttler';
import { AuthModule } from '../auth/auth.module.js';
import { CONFIG, type Config } from '../config/config.js';
import { ObservabilityModule } from '../observability/observability.module.js';
import { QuotaModule } from '../quota/quota.module.js';
import { DAY_MS } from '../quota/utc-day.js';
import { TenantLimitsModule } from '../tenant-limits/tenant-limits.module.js';
import { AllowanceGuard } from './allowance.guard.js';
import { GlobalGuard } from './global.guard.js';
import { LayerStorageService } from './layer-storage.service.js';
import { LayersService } from './layers.service.js';
import { LimitsService } from './limits.service.js';
import { PreauthGuard } from './preauth.guard.js';
import { QuotaGuard } from './quota.guard.js';
import { RefusalReportService } from './refusal-report.service.js';
import { TenantGuard } from './tenant.guard.js';

/** The four layers as throttlers of the library: how many requests, and in which time they come back. */
export function throttlers(config: Config): ThrottlerModuleOptions {
  const bucket = (name: string, requestsPerSecond: number, burst: number) => ({
    name,
    limit: burst,
    ttl: (burst / requestsPerSecond) * 1000,
  });
  return {
    setHeaders: false,
    throttlers: [
      bucket('preauth', config.preauthRps, config.preauthBurst),
      bucket('tenant', config.tenantRps, config.tenantBurst),
      { name: 'quota', limit: config.dailyQuota, ttl: DAY_MS },
      bucket('global', config.globalRps, config.globalBurst),
    ],
  };
}

/** The four layers of limits; the root module orders their guards. */
@Module({
  imports: [
    AuthModule,
    ObservabilityModule,
    QuotaModule,
    TenantLimitsModule,
    ThrottlerModule.forRootAsync({ inject: [CONFIG], useFactory: throttlers }),
  ],
  providers: [
    LayersService,
    LimitsService,
    RefusalReportService,
    LayerStorageService,
    PreauthGuard,
    TenantGuard,
    QuotaGuard,
    GlobalGuard,
    AllowanceGuard,
  ],
  exports: [AllowanceGuard, LimitsService, PreauthGuard, TenantGuard, QuotaGuard, GlobalGuard],
})
export class LimitsModule {}
