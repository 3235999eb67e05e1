import { z } from 'zod';
import type { DestructiveOperation } from '../../confirm/destructive-operation.js';
import { createBranch } from '../../tidb-cloud/endpoints.js';
import { changedBranch } from '../changed.js';
import { branchName, momentField, rootPassword } from '../destructive-fields.js';
import type { Effects } from '../../confirm/effects.js';
import { idField } from '../input-fields.js';
import { checkMoment } from '../moment.js';
import { clusterWords, lookAtBranch, lookAtCluster, named } from '../targets.js';

const args = z.strictObject({
  clusterId: idField('The cluster, from the list of clusters.'),
  displayName: branchName,
  parentId: idField('The branch or cluster to copy; the cluster unless given.').optional(),
  parentTimestamp: momentField('The moment of the parent to copy; now unless given.').optional(),
  rootPassword: rootPassword.optional(),
});

/** Creates a branch of a cluster. */
export const createBranchOperation: DestructiveOperation<typeof args> = {
  name: 'create_branch',
  title: 'Create a branch',
  description: 'Creates a branch: a copy of a cluster, or of a branch, at a point in time.',
  kind: 'branch',
  arguments: args,
  example: { clusterId: '10581234567890123456', displayName: 'migration-test' },
  async look(context, wanted) {
    const { clusterId, parentId = clusterId, parentTimestamp, displayName } = wanted;
    const cluster = await lookAtCluster(context, clusterId);
    const parent = parentId === clusterId ? undefined : await lookAtBranch(context, clusterId, parentId);
    checkMoment('parentTimestamp', parentTimestamp, (parent ?? cluster).createTime, context.utcMs);
    const from = `${parent === undefined ? 'the cluster' : 'the branch'} ${named((parent ?? cluster).displayName, parentId)}`;
    const when = parentTimestamp === undefined ? 'as it is now' : `as it was at ${parentTimestamp}`;
    const note = "A branch's storage and requests count for the quota and the bill of its cluster.";
    const effects: Effects = {
      creates: { kind: 'branch', displayName, plan: cluster.plan, region: cluster.region, from: `${from}, ${when}` },
      irreversible: [],
      cost: { note },
    };
    const summary = `Create the branch ${JSON.stringify(displayName)} of ${clusterWords(cluster, context.utcMs)} from ${from}, ${when}. ${note}`;
    const lookWith = { tool: 'tidb_list_branches', arguments: { clusterId } };
    return { summary, effects, target: { cluster, parent }, lookWith };
  },
  request: ({ clusterId, ...branch }) => createBranch(clusterId, branch),
  result: changedBranch,
};
