import { z } from 'zod';
import type { DestructiveOperation, LookContext } from '../../confirm/destructive-operation.js';
import { AppError } from '../../errors/app-error.js';
import { createCluster, listClusters, listRegions } from '../../tidb-cloud/endpoints.js';
import { clusterName, endpoints, labels, rootPassword, spendingLimit } from '../destructive-fields.js';
import { changedCluster } from '../changed.js';
import { counted, type Effects, spendingNote } from '../../confirm/effects.js';
import { maybe, upstreamId, upstreamText } from '../upstream-fields.js';

const args = z.strictObject({
  displayName: clusterName,
  region: z
    .strictObject({
      name: z
        .string()
        .regex(
          /^regions\/[a-z]{2,16}-[a-z0-9-]{1,40}$/,
          'must be a name of the list of regions, such as regions/aws-us-west-2',
        ),
    })
    .describe('The region, by its name in the list of regions.'),
  rootPassword: rootPassword.optional(),
  spendingLimit: spendingLimit.optional(),
  endpoints: endpoints.optional(),
  labels: labels.optional(),
  highAvailabilityType: z
    .enum(['ZONAL', 'REGIONAL'])
    .optional()
    .describe('Within one availability zone, or over several.'),
  autoScaling: z
    .strictObject({ minRcu: z.int().min(1), maxRcu: z.int().min(1) })
    .refine(({ minRcu, maxRcu }) => minRcu <= maxRcu, 'minRcu must not be above maxRcu')
    .optional()
    .describe('Request capacity units. With it the cluster is Essential, without it Starter.'),
  encryptionConfig: z.strictObject({ enhancedEncryptionEnabled: z.boolean() }).optional(),
});
type Args = z.output<typeof args>;

const regions = z.object({
  regions: z.array(z.object({ name: upstreamText, servicePlans: maybe(z.array(upstreamText)) })).nullish(),
});
const clusters = z.object({
  clusters: z.array(z.object({ clusterId: upstreamId, displayName: maybe(upstreamText) })).nullish(),
});

/** Creates a cluster, which costs money. */
export const createClusterOperation: DestructiveOperation<typeof args> = {
  name: 'create_cluster',
  title: 'Create a cluster',
  description: 'Creates a Starter or Essential cluster. It costs money.',
  kind: 'cluster',
  arguments: args,
  example: { displayName: 'orders', region: { name: 'regions/aws-us-west-2' }, spendingLimit: { monthly: 1000 } },
  async look(context, wanted) {
    const plan = wanted.autoScaling === undefined ? 'Starter' : 'Essential';
    const region = await lookAtRegion(context, wanted.region.name, plan);
    const filter = `displayName="${wanted.displayName}"`;
    const found = await context.ask(listClusters({ pageSize: 100, filter }), clusters);
    const namesakes = (found.clusters ?? []).map(({ clusterId }) => clusterId);
    const cost = costOf(wanted);
    const effects: Effects = {
      creates: { kind: 'cluster', displayName: wanted.displayName, plan: plan.toUpperCase(), region: region.name },
      irreversible: ['What it costs until it is deleted.'],
      cost,
    };
    const twice =
      namesakes.length === 0
        ? ''
        : ` There ${namesakes.length === 1 ? 'is' : 'are'} already ${counted(namesakes.length, 'cluster', 'clusters')} of this name.`;
    const summary = `Create the ${plan} cluster ${JSON.stringify(wanted.displayName)} in ${region.name}.${twice} ${cost.note}`;
    const lookWith = { tool: 'tidb_list_clusters', arguments: { filter } };
    return { summary, effects, target: { region, namesakes }, lookWith };
  },
  request: (wanted) => createCluster(wanted),
  result: changedCluster,
};

async function lookAtRegion(context: LookContext, name: string, plan: string) {
  const found = (await context.ask(listRegions({}), regions)).regions ?? [];
  const region = found.find((one) => one.name === name);
  const message = region === undefined ? notIn(found.map((one) => one.name)) : `has no ${plan} clusters`;
  if (region === undefined || region.servicePlans?.includes(plan) === false) {
    throw new AppError('INVALID_ARGUMENT', `Invalid arguments: arguments.region.name: ${message}.`, {
      errors: [{ path: 'arguments.region.name', message }],
    });
  }
  return region;
}

function notIn(names: string[]): string {
  return `is none of this organization's regions: ${names.join(', ')}`.slice(0, 2000);
}

function costOf({ autoScaling, spendingLimit: limit }: Args): NonNullable<Effects['cost']> {
  if (autoScaling !== undefined) {
    const { minRcu, maxRcu } = autoScaling;
    return {
      note: `Essential is billed by storage and request capacity, which scales between ${minRcu} and ${maxRcu} RCU; this server does not know the prices.`,
    };
  }
  const cents = limit?.monthly ?? 0;
  return { spendingLimitMonthlyCents: cents, note: spendingNote(cents) };
}
