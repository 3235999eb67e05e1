import { z } from 'zod';
import type { DestructiveOperation } from '../../confirm/destructive-operation.js';
import { deleteBranch } from '../../tidb-cloud/endpoints.js';
import { changedBranch } from '../changed.js';
import { counted, type Effects } from '../../confirm/effects.js';
import { idField } from '../input-fields.js';
import { branchEffect, branchWords, lookAtBranch, lookAtBranches, lookAtCluster } from '../targets.js';

const args = z.strictObject({
  clusterId: idField('The cluster, from the list of clusters.'),
  branchId: idField('The branch, from the list of branches.'),
});

/** Deletes a branch. */
export const deleteBranchOperation: DestructiveOperation<typeof args> = {
  name: 'delete_branch',
  title: 'Delete a branch',
  description: 'Deletes a branch with its data. It cannot be undone.',
  kind: 'branch',
  arguments: args,
  example: { clusterId: '10581234567890123456', branchId: 'bran-d4k7m2p9q1' },
  async look(context, { clusterId, branchId }) {
    const cluster = await lookAtCluster(context, clusterId);
    const branch = await lookAtBranch(context, clusterId, branchId);
    const { branches } = await lookAtBranches(context, clusterId);
    const children = branches.filter(({ parentId }) => parentId === branchId).map((child) => child.branchId);
    const effects: Effects = {
      target: branchEffect(branch, cluster, context.utcMs),
      irreversible: ['All data of the branch.'],
    };
    const kept =
      children.length === 0
        ? ''
        : ` It is the parent of ${counted(children.length, 'branch', 'branches')}, so TiDB Cloud may refuse.`;
    const summary = `Delete ${branchWords(branch, cluster, context.utcMs)} with all its data.${kept} This cannot be undone.`;
    const lookWith = { tool: 'tidb_get_branch', arguments: { clusterId, branchId } };
    return { summary, effects, target: { cluster: clusterId, branch, children }, lookWith };
  },
  request: ({ clusterId, branchId }) => deleteBranch(clusterId, branchId),
  result: changedBranch,
};
