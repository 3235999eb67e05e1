import { describe, expect, it } from 'vitest';
import { configOf } from '../config/parse-config.js';
import type { QuotaService } from '../quota/quota.service.js';
import { capabilitiesReport } from './capabilities-report.js';
import { capabilitiesText } from './capabilities-text.js';
import type { Caller } from './operation.js';
import { TenantLimits } from '../tenant-limits/tenant-limits.js';
import type { TenantLimitsService } from '../tenant-limits/tenant-limits.service.js';
import { HttpServerDescription } from './http-server-description.service.js';
import { SERVER_VERSION } from './package-version.js';

const FINGERPRINT = 'a'.repeat(64);
const credential = { kind: 'api-key', publicKey: 'p', privateKey: 's' } as const;
const tenant = {
  identity: { kind: 'api-key', fingerprint: FINGERPRINT, tenant: FINGERPRINT, credential },
  session: { credential },
} as const;

const caller: Caller = {
  tenant,
  surface: 'v1',
  signal: new AbortController().signal,
  origin: {
    client: { address: '10.0.0.9', key: '10.0.0.9', network: '10.0.0.0/24', source: 'fallback', gateway: undefined },
    proven: true,
  },
};
const everybody = { limits: new TenantLimits() } as TenantLimitsService;

const quota = {
  status: (fingerprint: string) => ({
    callsPerUtcDay: 5000,
    flushIntervalSeconds: 30,
    used: fingerprint === FINGERPRINT ? 12 : 0,
    remaining: 4988,
    resetsAt: '2026-11-30T00:00:00.000Z',
    persistenceDegraded: false,
  }),
  instanceId: () => 'instance',
  liveInstances: () => 2,
} as unknown as QuotaService;

describe('The capabilities over HTTP', () => {
  it('are the limits in force and the caller’s own quota, member by member as the contract has them', () => {
    const report = new HttpServerDescription(configOf(), quota, everybody).describe(caller);
    expect(report).toEqual({
      server: { name: 'tidb-cloud-mcp', version: SERVER_VERSION, instanceId: 'instance', transport: 'http' },
      limits: {
        enforced: true,
        preauth: { requestsPerSecond: 1, burst: 5, keyedBy: 'client-ip', scope: 'instance' },
        tenant: { requestsPerSecond: 5, burst: 20, keyedBy: 'credential', scope: 'instance' },
        quota: {
          callsPerUtcDay: 5000,
          keyedBy: 'credential',
          scope: 'shared',
          flushIntervalSeconds: 30,
          used: 12,
          remaining: 4988,
          resetsAt: '2026-11-30T00:00:00.000Z',
          persistenceDegraded: false,
        },
        global: { requestsPerSecond: 100, burst: 200, keyedBy: 'instance', scope: 'instance' },
      },
      caller: {
        surface: 'v1',
        kind: 'api-key',
        fingerprint: 'aaaaaaaaaaaa',
        proven: true,
        address: '10.0.0.9',
        addressSource: 'fallback',
      },
      liveInstances: 2,
    });
    expect(capabilitiesReport.parse(report)).toEqual(report);
  });

  it('follow the configuration', () => {
    const config = configOf({ TIDB_MCP_TENANT_RPS: '0.5', TIDB_MCP_GLOBAL_BURST: '7' });
    const { limits } = new HttpServerDescription(config, quota, everybody).describe(caller);
    expect(limits.tenant?.requestsPerSecond).toBe(0.5);
    expect(limits.global?.burst).toBe(7);
  });

  it('are a tenant’s own where it has limits of its own', () => {
    const limits = new TenantLimits();
    limits.replace([{ fingerprint: FINGERPRINT, requestsPerSecond: 50, burst: undefined, callsPerUtcDay: undefined }]);
    const own = new HttpServerDescription(configOf(), quota, { limits } as TenantLimitsService).describe(caller);
    expect(own.limits.tenant).toMatchObject({ requestsPerSecond: 50, burst: 20 });
  });

  it('are those of now, also where a limit or the name of this run has changed since the last report', () => {
    let instanceId = 'first';
    const limits = new TenantLimits();
    const limit = { fingerprint: FINGERPRINT, burst: undefined, callsPerUtcDay: undefined };
    const renamed = Object.assign(Object.create(quota) as QuotaService, { instanceId: () => instanceId });
    const server = new HttpServerDescription(configOf(), renamed, { limits } as TenantLimitsService);
    const told = () => {
      const report = server.describe(caller);
      expect(capabilitiesText(report)).toBe(JSON.stringify(report));
      return [report.server.instanceId, report.limits.tenant?.requestsPerSecond];
    };
    expect(told()).toEqual(['first', 5]);
    limits.replace([{ ...limit, requestsPerSecond: 50 }]);
    instanceId = 'second';
    expect([told(), told()]).toEqual([
      ['second', 50],
      ['second', 50],
    ]);
    limits.replace([{ ...limit, requestsPerSecond: 70 }]);
    expect(told()).toEqual(['second', 70]);
    limits.replace([]);
    expect(told()).toEqual(['second', 5]);
  });
});
