import { Module, type OnModuleInit } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { FastifyInstance } from 'fastify';
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
export class ConsoleModule implements OnModuleInit {
  constructor(private readonly host: HttpAdapterHost) {}

  /** Leads `/console/` to the page: people type it so, and Nest's own routes take no slash at their end. */
  onModuleInit(): void {
    const fastify: FastifyInstance = this.host.httpAdapter.getInstance();
    fastify.route({
      method: 'GET',
      url: '/console/',
      config: { free: true },
      // Relative, for a proxy that serves the page below a path of its own.
      handler: (_request, reply) => reply.redirect('../console', 308),
    });
  }
}
