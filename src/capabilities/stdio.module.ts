import { randomUUID } from 'node:crypto';
import { type DynamicModule, Module } from '@nestjs/common';
import { SERVER_NAME, SERVER_VERSION } from './package-version.js';
import { OperationRunner } from './operation-runner.service.js';
import { OperationUpstream } from './operation-upstream.service.js';
import { SERVER_DESCRIPTION, type ServerDescription } from './server-description.js';
import { ClockModule } from '../clock/clock.module.js';
import type { Config } from '../config/config.js';
import { ConfigModule } from '../config/config.module.js';
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
 * What the local server is made of: the operations and the way to TiDB Cloud. No limits, no quota, no control database
 * and nothing that listens. Spec: "Limits apply to the remote HTTP transport only".
 */
@Module({})
export class StdioModule {
  static forRoot(config: Config): DynamicModule {
    return {
      module: StdioModule,
      imports: [ConfigModule.forRoot(config), ClockModule.forRoot(), ObservabilityModule, TidbCloudModule],
      providers: [OperationRunner, OperationUpstream, { provide: SERVER_DESCRIPTION, useFactory: stdioDescription }],
    };
  }
}
