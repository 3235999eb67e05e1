import { Module } from '@nestjs/common';
import { AuthModule } from '../auth/auth.module.js';
import { AuthService } from '../auth/auth.service.js';
import { ConfirmModule } from '../confirm/confirm.module.js';
import { ObservabilityModule } from '../observability/observability.module.js';
import { QuotaModule } from '../quota/quota.module.js';
import { TenantLimitsModule } from '../tenant-limits/tenant-limits.module.js';
import { TidbCloudModule } from '../tidb-cloud/tidb-cloud.module.js';
import { HttpServerDescription } from './http-server-description.service.js';
import { McpHttpAdapter } from './mcp-http.adapter.js';
import { McpController } from './mcp.controller.js';
import { OperationConfirmations } from './operation-confirmations.service.js';
import { OperationContexts } from './operation-contexts.service.js';
import { OperationRunner } from './operation-runner.service.js';
import { OperationUpstream } from './operation-upstream.service.js';
import { REJECTION_LISTENER } from './rejection-listener.js';
import { SERVER_DESCRIPTION } from './server-description.js';
import { V1Controller } from './v1.controller.js';

/** What this server can do, on both HTTP surfaces. */
@Module({
  imports: [AuthModule, ConfirmModule, ObservabilityModule, QuotaModule, TenantLimitsModule, TidbCloudModule],
  controllers: [McpController, V1Controller],
  providers: [
    McpHttpAdapter,
    OperationConfirmations,
    OperationContexts,
    OperationRunner,
    OperationUpstream,
    { provide: SERVER_DESCRIPTION, useClass: HttpServerDescription },
    { provide: REJECTION_LISTENER, useExisting: AuthService },
  ],
})
export class CapabilitiesModule {}
