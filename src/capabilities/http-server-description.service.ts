import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type Config } from '../config/config.js';
import { QuotaService } from '../quota/quota.service.js';
import type { TenantLimit } from '../tenant-limits/tenant-limits.js';
import { TenantLimitsService } from '../tenant-limits/tenant-limits.service.js';
import type { Limit } from '../request/request-context.js';
import { shownTenant } from '../request/shown-tenant.js';
import type { CapabilitiesReport } from './capabilities-report.js';
import type { Caller } from './operation.js';
import { SERVER_NAME, SERVER_VERSION } from './package-version.js';
import type { ServerDescription } from './server-description.js';

/** The HTTP server in its own words: all four layers, with the numbers that are in force. Contract: "Surfaces". */
@Injectable()
export class HttpServerDescription implements ServerDescription {
  /** The three buckets, which never change while the server runs. */
  private readonly buckets: Pick<CapabilitiesReport['limits'], 'preauth' | 'tenant' | 'global'>;
  /** The buckets of tenants with limits of their own: a limit that stays the same stays the same object. */
  private readonly ownBuckets = new WeakMap<TenantLimit, CapabilitiesReport['limits']['tenant']>();
  private lastServer: CapabilitiesReport['server'] = {
    name: SERVER_NAME,
    version: SERVER_VERSION,
    instanceId: '',
    transport: 'http',
  };

  constructor(
    @Inject(CONFIG) config: Config,
    @Inject(QuotaService) private readonly quota: QuotaService,
    @Inject(TenantLimitsService) private readonly tenantLimits: TenantLimitsService,
  ) {
    const { preauthRps, preauthBurst, tenantRps, tenantBurst, globalRps, globalBurst } = config;
    const scope = 'instance' as const;
    const mark = (limit: Limit) => (config.shadow.includes(limit) ? { shadowed: true } : {});
    const preauth = { requestsPerSecond: preauthRps, burst: preauthBurst, keyedBy: 'client-ip' as const };
    const tenant = { requestsPerSecond: tenantRps, burst: tenantBurst, keyedBy: 'credential' as const };
    const global = { requestsPerSecond: globalRps, burst: globalBurst, keyedBy: 'instance' as const };
    // Frozen, since all reports share them.
    this.buckets = {
      preauth: Object.freeze({ ...preauth, scope, ...mark('preauth') }),
      tenant: Object.freeze({ ...tenant, scope, ...mark('tenant') }),
      global: Object.freeze({ ...global, scope, ...mark('global') }),
    };
  }

  describe(caller: Caller): CapabilitiesReport {
    const { buckets, quota } = this;
    const { tenant } = caller.tenant.identity;
    const day = quota.status(tenant);
    return {
      server: this.server(),
      limits: {
        enforced: true,
        preauth: buckets.preauth,
        tenant: this.tenantBucket(tenant),
        quota: {
          callsPerUtcDay: day.callsPerUtcDay,
          keyedBy: 'credential',
          scope: 'shared',
          flushIntervalSeconds: day.flushIntervalSeconds,
          used: day.used,
          remaining: day.remaining,
          resetsAt: day.resetsAt,
          persistenceDegraded: day.persistenceDegraded,
          shadowed: day.shadowed ? true : undefined,
        },
        global: buckets.global,
      },
      caller: callerReport(caller),
      liveInstances: quota.liveInstances(),
    };
  }

  /** This run, whose name in the control database can change. */
  private server(): CapabilitiesReport['server'] {
    const instanceId = this.quota.instanceId();
    if (this.lastServer.instanceId !== instanceId) this.lastServer = Object.freeze({ ...this.lastServer, instanceId });
    return this.lastServer;
  }

  /** A tenant with limits of its own is told those. */
  private tenantBucket(name: string): CapabilitiesReport['limits']['tenant'] {
    const { tenant } = this.buckets;
    const own = this.tenantLimits.limits.of(name);
    if (own === undefined || tenant === undefined) return tenant;
    const known = this.ownBuckets.get(own);
    if (known !== undefined) return known;
    const { requestsPerSecond = tenant.requestsPerSecond, burst = tenant.burst } = own;
    const bucket = Object.freeze({ ...tenant, requestsPerSecond, burst });
    this.ownBuckets.set(own, bucket);
    return bucket;
  }
}

function callerReport({ tenant, surface, origin }: Caller): CapabilitiesReport['caller'] {
  if (origin === undefined) return undefined;
  const { kind } = tenant.identity;
  const { address, source: addressSource } = origin.client;
  const { proven } = origin;
  return { surface, kind, fingerprint: shownTenant(tenant.identity.tenant), proven, address, addressSource };
}
