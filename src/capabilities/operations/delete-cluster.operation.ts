import { z } from 'zod';
import type { DestructiveOperation } from '../../confirm/destructive-operation.js';
import { deleteCluster } from '../../tidb-cloud/endpoints.js';
import { changedCluster } from '../changed.js';
import { counted, type Effects } from '../../confirm/effects.js';
import { idField } from '../input-fields.js';
import { backupsOf, branchesOf, clusterEffect, clusterWords, lookAtCluster, shown } from '../targets.js';

const args = z.strictObject({ clusterId: idField('The cluster, from the list of clusters.') });

/** Deletes a cluster with its branches and backups. */
export const deleteClusterOperation: DestructiveOperation<typeof args> = {
  name: 'delete_cluster',
  title: 'Delete a cluster',
  description: 'Deletes a cluster with its data, branches and backups. It cannot be undone.',
  kind: 'cluster',
  arguments: args,
  example: { clusterId: '10581234567890123456' },
  async look(context, { clusterId }) {
    const cluster = await lookAtCluster(context, clusterId);
    const [branches, backups] = await Promise.all([branchesOf(context, clusterId), backupsOf(context, clusterId)]);
    const effects: Effects = {
      target: clusterEffect(cluster, context.utcMs),
      deletes: { branches: shown(branches), backups: shown(backups) },
      irreversible: ['All data of the cluster.', 'All its branches.', 'All its backups, and every way back to them.'],
    };
    const goes = `${counted(branches.count, 'branch', 'branches')} and ${counted(backups.count, 'backup', 'backups')}`;
    const summary = `Delete ${clusterWords(cluster, context.utcMs)} with all its data, ${goes}. This cannot be undone.`;
    const lookWith = { tool: 'tidb_get_cluster', arguments: { clusterId } };
    return { summary, effects, target: { cluster, branches, backups }, lookWith };
  },
  request: ({ clusterId }) => deleteCluster(clusterId),
  result: changedCluster,
};
