import { randomUUID } from 'node:crypto';
import { type DynamicModule, Module } from '@nestjs/common';
import { SERVER_NAME, SERVER_VERSION } from './package-version.js';
import { OperationConfirmations } from './operation-confirmations.service.js';
import { OperationContexts } from './operation-contexts.service.js';
import { OperationRunner } from './operation-runner.service.js';
import { OperationUpstream } from './operation-upstream.service.js';
import { SERVER_DESCRIPTION, type ServerDescription } from './server-description.js';
import { ClockModule } from '../clock/clock.module.js';
import type { Config } from '../config/config.js';
import { ConfigModule } from '../config/config.module.js';
import { ConfirmModule } from '../confirm/confirm.module.js';
import { ControlDbModule } from '../control-db/control-db.module.js';
import { ObservabilityModule } from '../observability/observability.module.js';
import { TidbCloudModule } from '../tidb-cloud/tidb-cloud.module.js';

/** The local server in its own words: one user, no limits. Contract: "Surfaces". */
function stdioDescription(): ServerDescription {
  const instanceId = randomUUID();
  return {
    describe: () => ({
      server: { name: SERVER_NAME, version: SERVER_VERSION, instanceId, transport: 'stdio' },
      limits: { enforced: false },
      liveInstances: 1,
    }),
  };
}

/**
 * What the local server is made of: the operations, the way to TiDB Cloud, and the ledger of confirmations. No limits,
 * no quota and nothing that listens. Spec: "Limits apply to the remote HTTP transport only".
 */
@Module({})
export class StdioModule {
  static forRoot(config: Config): DynamicModule {
    return {
      module: StdioModule,
      imports: [
        ConfigModule.forRoot(config),
        ClockModule.forRoot(),
        ObservabilityModule,
        ControlDbModule,
        ConfirmModule,
        TidbCloudModule,
      ],
      providers: [
        OperationConfirmations,
        OperationContexts,
        OperationRunner,
        OperationUpstream,
        { provide: SERVER_DESCRIPTION, useFactory: stdioDescription },
      ],
    };
  }
}
