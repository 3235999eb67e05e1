import { z } from 'zod';
import { capabilitiesReport } from '../capabilities-report.js';
import { capabilitiesText } from '../capabilities-text.js';
import { defineOperation, READS_TIDB_CLOUD } from '../operation.js';

/** What this server is, which limits are in force, and how much of the day's quota is left. */
export const capabilitiesOperation = defineOperation({
  name: 'capabilities',
  title: 'Server capabilities and limits',
  description:
    'Says which rate limits and which daily quota are in force on this server, how much of the quota this credential has used, when it resets, and whether its storage is degraded. Call it to plan many calls ahead, or after a refusal. Asks nothing of TiDB Cloud.',
  input: z.strictObject({}),
  output: capabilitiesReport,
  annotations: { ...READS_TIDB_CLOUD, openWorldHint: false },
  route: { method: 'GET', path: '/capabilities', operationId: 'getCapabilities', tag: 'Server' },
  example: {
    input: {},
    output: {
      server: {
        name: 'tidb-cloud-mcp',
        version: '1.0.0',
        instanceId: '3f1c9a52-7d0e-4c1b-9a53-0d8f7a1c2b3e',
        transport: 'http',
      },
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
        fingerprint: '9f86d081884c',
        proven: true,
        address: '203.0.113.7',
        addressSource: 'forwarded',
      },
      liveInstances: 2,
    },
  },
  json: capabilitiesText,
  run: (context) => context.describeServer(),
});
