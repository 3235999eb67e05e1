import { type DynamicModule, Module } from '@nestjs/common';
import { APP_FILTER, APP_GUARD } from '@nestjs/core';
import { ScheduleModule } from '@nestjs/schedule';
import { AuthGuard } from './auth/auth.guard.js';
import { AuthModule } from './auth/auth.module.js';
import { CapabilitiesModule } from './capabilities/capabilities.module.js';
import { ClientIpModule } from './client-ip/client-ip.module.js';
import type { Clock } from './clock/clock.js';
import { ClockModule } from './clock/clock.module.js';
import type { Config } from './config/config.js';
import { ConfigModule } from './config/config.module.js';
import { ConsoleModule } from './console/console.module.js';
import { ErrorFilter } from './http/error.filter.js';
import { HttpModule } from './http/http.module.js';
import { AllowanceGuard } from './limits/allowance.guard.js';
import { GlobalGuard } from './limits/global.guard.js';
import { LimitsModule } from './limits/limits.module.js';
import { PreauthGuard } from './limits/preauth.guard.js';
import { QuotaGuard } from './limits/quota.guard.js';
import { TenantGuard } from './limits/tenant.guard.js';
import { ObservabilityModule } from './observability/observability.module.js';
import { QuotaModule } from './quota/quota.module.js';

/**
 * The HTTP server's modules and THE order of what a request meets: guards run from the top, then a route that takes a
 * body has it read, then the controller runs; whatever is thrown on the way ends in the filter.
 */
@Module({})
export class AppModule {
  static forRoot(config: Config, clock?: Clock): DynamicModule {
    return {
      module: AppModule,
      imports: [
        ConfigModule.forRoot(config),
        ClockModule.forRoot(clock),
        ScheduleModule.forRoot(),
        ObservabilityModule,
        ClientIpModule,
        QuotaModule,
        AuthModule,
        LimitsModule,
        HttpModule,
        CapabilitiesModule,
        ConsoleModule,
      ],
      providers: [
        { provide: APP_GUARD, useExisting: PreauthGuard },
        { provide: APP_GUARD, useExisting: TenantGuard },
        { provide: APP_GUARD, useExisting: QuotaGuard },
        { provide: APP_GUARD, useExisting: GlobalGuard },
        { provide: APP_GUARD, useExisting: AuthGuard },
        { provide: APP_GUARD, useExisting: AllowanceGuard },
        { provide: APP_FILTER, useExisting: ErrorFilter },
      ],
    };
  }
}
