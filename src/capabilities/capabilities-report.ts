import { z } from 'zod';

const shadowed = z
  .boolean()
  .optional()
  .describe(
    'Only where it is true: the layer is watched and refuses nothing (pre-auth: only past the budget of a gateway).',
  );

const bucket = (keyedBy: 'client-ip' | 'credential' | 'instance', what: string) =>
  z
    .object({
      requestsPerSecond: z.number().describe('Requests per second that the bucket refills by; may be a fraction.'),
      burst: z.number().int().describe('Requests that may come at once when the bucket is full.'),
      keyedBy: z.literal(keyedBy).describe('What has a bucket of its own.'),
      scope: z.literal('instance').describe('Each server instance has buckets of its own.'),
      shadowed,
    })
    .describe(what);

const quota = z
  .object({
    callsPerUtcDay: z.number().int(),
    keyedBy: z.literal('credential'),
    scope: z.literal('shared').describe('All instances share the count; it converges within one flush interval.'),
    flushIntervalSeconds: z.number().int(),
    used: z.number().int().describe('Calls counted today for this credential, this one included.'),
    remaining: z.number().int(),
    resetsAt: z.string().describe('The next UTC midnight, ISO 8601.'),
    persistenceDegraded: z
      .boolean()
      .describe('True while the shared count cannot be read or written; calls are counted in memory meanwhile.'),
    shadowed,
  })
  .describe('The calls of this credential per UTC day. No wait within the day clears it.');

const caller = z
  .object({
    surface: z.enum(['mcp', 'v1', 'other']),
    kind: z.enum(['api-key', 'oauth', 'shared']).describe('What kind of credential this is.'),
    fingerprint: z.string().describe('The first 12 digits of the tenant’s fingerprint.'),
    proven: z.boolean().describe('Whether the credential had been accepted before this call.'),
    address: z.string().describe('The client address as the server sees it.'),
    addressSource: z
      .enum(['header', 'forwarded', 'socket', 'fallback'])
      .describe('Where it was read; fallback: the declared source was missing or malformed.'),
  })
  .describe('Who this call is to the server.');

/** The schema of {@link CapabilitiesReport}. Contract: "Surfaces". */
export const capabilitiesReport = z
  .object({
    server: z.object({
      name: z.string(),
      version: z.string(),
      instanceId: z.string().describe('Which instance answered.'),
      transport: z.enum(['http', 'stdio']),
    }),
    limits: z
      .object({
        enforced: z.boolean().describe('False on the local stdio transport, which has no limits at all.'),
        preauth: bucket('client-ip', 'Requests without a credential that has been accepted before.').optional(),
        tenant: bucket('credential', 'Requests of one accepted credential.').optional(),
        quota: quota.optional(),
        global: bucket('instance', 'Requests of all callers together.').optional(),
      })
      .describe('The layers in the order in which they are asked; a layer is absent where it is not enforced.'),
    caller: caller.optional(),
    liveInstances: z.number().int().describe('Server instances that share the quota, as last known.'),
  })
  .meta({ title: 'Capabilities' });

/** What this server is and which limits are in force, numbers as configured. */
export type CapabilitiesReport = z.output<typeof capabilitiesReport>;
