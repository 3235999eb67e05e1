import { z } from 'zod';
import type { DestructiveOperation } from '../../confirm/destructive-operation.js';
import { updateCluster } from '../../tidb-cloud/endpoints.js';
import { changedCluster } from '../changed.js';
import { clusterName, endpoints, labels, spendingLimit } from '../destructive-fields.js';
import { type Effects, spendingNote } from '../../confirm/effects.js';
import { idField } from '../input-fields.js';
import { clusterEffect, type ClusterTarget, clusterWords, lookAtCluster } from '../targets.js';

/** The labels that TiDB Cloud itself works with; a change of the others is none of these. */
const SYSTEM_LABEL = /^tidb\.cloud\//;

const args = z
  .strictObject({
    clusterId: idField('The cluster, from the list of clusters.'),
    displayName: clusterName.optional(),
    spendingLimit: spendingLimit.optional(),
    endpoints: endpoints.optional(),
    labels: labels.optional(),
  })
  .refine((all) => Object.keys(all).length > 1, 'must name something to change beside clusterId');
type Args = z.output<typeof args>;

/** Changes a cluster's name, spending limit, authorized networks or labels. */
export const updateClusterOperation: DestructiveOperation<typeof args, { cluster: ClusterTarget }> = {
  name: 'update_cluster',
  title: 'Update a cluster',
  description:
    'Changes the name, spending limit, authorized networks or labels of a cluster. Networks and labels replace all that there are.',
  kind: 'cluster',
  arguments: args,
  example: { clusterId: '10581234567890123456', spendingLimit: { monthly: 5000 } },
  async look(context, wanted) {
    const cluster = await lookAtCluster(context, wanted.clusterId);
    const changes = changesOf(cluster, wanted);
    const effects: Effects = {
      target: clusterEffect(cluster, context.utcMs),
      changes,
      irreversible: [],
      ...(wanted.spendingLimit === undefined ? {} : { cost: costOf(wanted.spendingLimit.monthly) }),
    };
    const words = changes.map(({ field, from, to }) => `${field} from ${from ?? 'nothing'} to ${to}`).join('; ');
    const cost = effects.cost === undefined ? '' : ` ${effects.cost.note}`;
    const summary = `Change ${clusterWords(cluster, context.utcMs)}: ${words}.${cost}`;
    const lookWith = { tool: 'tidb_get_cluster', arguments: { clusterId: wanted.clusterId } };
    return { summary, effects, target: { cluster }, lookWith };
  },
  request({ clusterId, ...wanted }, { cluster }) {
    const changed = {
      ...wanted,
      ...(wanted.labels === undefined ? {} : { labels: allLabels(cluster, wanted.labels) }),
    };
    const mask = Object.keys(changed).map((name) =>
      name === 'endpoints' ? 'endpoints.public.authorizedNetworks' : name,
    );
    return updateCluster(clusterId, changed, mask.join(','));
  },
  result: changedCluster,
};

function changesOf(cluster: ClusterTarget, wanted: Args): { field: string; from?: string | undefined; to: string }[] {
  const rows: [string, unknown, unknown][] = [
    ['displayName', cluster.displayName, wanted.displayName],
    ['spendingLimit.monthly', cluster.spendingLimitMonthlyCents, wanted.spendingLimit?.monthly],
    ['authorizedNetworks', cluster.authorizedNetworks, wanted.endpoints?.public.authorizedNetworks],
    ['labels', cluster.labels, wanted.labels && allLabels(cluster, wanted.labels)],
  ];
  return rows
    .filter(([, , to]) => to !== undefined)
    .map(([field, from, to]) => ({ field, from: jsonOf(from), to: JSON.stringify(to) }));
}

function jsonOf(value: unknown): string | undefined {
  return value === undefined ? undefined : JSON.stringify(value);
}

/**
 * TiDB Cloud replaces all labels; its own stay unless the caller names them, or the cluster would change its project.
 */
function allLabels(cluster: ClusterTarget, wanted: Record<string, string>): Record<string, string> {
  const system = Object.entries(cluster.labels ?? {}).filter(([name]) => SYSTEM_LABEL.test(name));
  return { ...Object.fromEntries(system), ...wanted };
}

function costOf(cents: number): NonNullable<Effects['cost']> {
  return { spendingLimitMonthlyCents: cents, note: spendingNote(cents) };
}
