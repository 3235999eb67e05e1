import { z } from 'zod';
import type { DestructiveOperation } from '../../confirm/destructive-operation.js';
import { resetBranch } from '../../tidb-cloud/endpoints.js';
import { changedBranch } from '../changed.js';
import type { Effects } from '../../confirm/effects.js';
import { idField } from '../input-fields.js';
import { branchEffect, branchWords, lookAtBranch, lookAtCluster, named } from '../targets.js';

const args = z.strictObject({
  clusterId: idField('The cluster, from the list of clusters.'),
  branchId: idField('The branch, from the list of branches.'),
});

/** Resets a branch to its parent's present state. */
export const resetBranchOperation: DestructiveOperation<typeof args> = {
  name: 'reset_branch',
  title: 'Reset a branch',
  description: "Resets a branch to its parent's present state. What was changed on the branch is lost.",
  kind: 'branch',
  arguments: args,
  example: { clusterId: '10581234567890123456', branchId: 'bran-d4k7m2p9q1' },
  async look(context, { clusterId, branchId }) {
    const cluster = await lookAtCluster(context, clusterId);
    const branch = await lookAtBranch(context, clusterId, branchId);
    const effects: Effects = {
      target: branchEffect(branch, cluster, context.utcMs),
      irreversible: ['Everything that was changed on the branch since it was created or last reset.'],
    };
    const parent = named(branch.parentDisplayName, branch.parentId ?? clusterId);
    const summary = `Reset ${branchWords(branch, cluster, context.utcMs)} to the present state of its parent ${parent}. What was changed on the branch is lost. This cannot be undone.`;
    const lookWith = { tool: 'tidb_get_branch', arguments: { clusterId, branchId } };
    return { summary, effects, target: { cluster: clusterId, branch }, lookWith };
  },
  request: ({ clusterId, branchId }) => resetBranch(clusterId, branchId),
  result: changedBranch,
};
