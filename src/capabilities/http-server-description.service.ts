import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type Config } from '../config/config.js';
import { QuotaService } from '../quota/quota.service.js';
import type { TenantContext } from '../request/credential.js';
import type { CapabilitiesReport } from './capabilities-report.js';
import { SERVER_NAME, SERVER_VERSION } from './package-version.js';
import type { ServerDescription } from './server-description.js';

/** The HTTP server in its own words: all four layers, with the numbers that are in force. Contract: "Surfaces". */
@Injectable()
export class HttpServerDescription implements ServerDescription {
  constructor(
    @Inject(CONFIG) private readonly config: Config,
    @Inject(QuotaService) private readonly quota: QuotaService,
  ) {}

  describe(tenant: TenantContext): CapabilitiesReport {
    const { config, quota } = this;
    const bucket = (requestsPerSecond: number, burst: number) => ({ requestsPerSecond, burst });
    const day = quota.status(tenant.identity.fingerprint);
    return {
      server: { name: SERVER_NAME, version: SERVER_VERSION, instanceId: quota.instanceId(), transport: 'http' },
      limits: {
        enforced: true,
        preauth: { ...bucket(config.preauthRps, config.preauthBurst), keyedBy: 'client-ip', scope: 'instance' },
        tenant: { ...bucket(config.tenantRps, config.tenantBurst), keyedBy: 'credential', scope: 'instance' },
        quota: {
          callsPerUtcDay: day.callsPerUtcDay,
          keyedBy: 'credential',
          scope: 'shared',
          flushIntervalSeconds: day.flushIntervalSeconds,
          used: day.used,
          remaining: day.remaining,
          resetsAt: day.resetsAt,
          persistenceDegraded: day.persistenceDegraded,
        },
        global: { ...bucket(config.globalRps, config.globalBurst), keyedBy: 'instance', scope: 'instance' },
      },
      liveInstances: quota.liveInstances(),
    };
  }
}
