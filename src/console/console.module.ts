import { Module } from '@nestjs/common';
import { AuthModule } from '../auth/auth.module.js';
import { CONFIG, type Config } from '../config/config.js';
import { ObservabilityModule } from '../observability/observability.module.js';
import { QuotaModule } from '../quota/quota.module.js';
import { CONSOLE_ASSETS, type ConsoleAssets, loadConsoleAssets } from './console-assets.adapter.js';
import { ConsoleDataService } from './console-data.service.js';
import { ConsoleHistoryService } from './console-history.service.js';
import { ConsoleController } from './console.controller.js';
import { SharedReportService } from './shared-report.service.js';

function createAssets({ adminToken }: Config): ConsoleAssets {
  return adminToken === undefined ? new Map() : loadConsoleAssets();
}

/** One page where an operator looks. Needs `ScheduleModule.forRoot()` in the application. */
@Module({
  imports: [AuthModule, ObservabilityModule, QuotaModule],
  controllers: [ConsoleController],
  providers: [
    { provide: CONSOLE_ASSETS, useFactory: createAssets, inject: [CONFIG] },
    ConsoleHistoryService,
    SharedReportService,
    ConsoleDataService,
  ],
})
export class ConsoleModule {}
