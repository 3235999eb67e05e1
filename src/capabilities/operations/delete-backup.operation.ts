import { z } from 'zod';
import type { DestructiveOperation } from '../../confirm/destructive-operation.js';
import { deleteBackup } from '../../tidb-cloud/endpoints.js';
import { changedBackup } from '../changed.js';
import { ageDays, type Effects } from '../../confirm/effects.js';
import { idField } from '../input-fields.js';
import { clusterWords, lookAtBackup, lookAtCluster } from '../targets.js';

const args = z.strictObject({ backupId: idField('The backup, from the list of backups.') });

/** Deletes a backup. */
export const deleteBackupOperation: DestructiveOperation<typeof args> = {
  name: 'delete_backup',
  title: 'Delete a backup',
  description: 'Deletes a backup. It cannot be undone.',
  kind: 'backup',
  arguments: args,
  example: { backupId: '2018945' },
  async look(context, { backupId }) {
    const backup = await lookAtBackup(context, backupId);
    const { clusterId, createTime } = backup;
    const cluster = clusterId === undefined ? undefined : await lookAtCluster(context, clusterId);
    const effects: Effects = {
      target: {
        kind: 'backup',
        id: backupId,
        clusterId,
        clusterDisplayName: cluster?.displayName,
        plan: cluster?.plan,
        region: cluster?.region,
        createTime,
        ageDays: ageDays(createTime, context.utcMs),
      },
      irreversible: ['The backup: the cluster cannot be restored from it any more.'],
    };
    const of = cluster === undefined ? 'an unknown cluster' : clusterWords(cluster, context.utcMs);
    const summary = `Delete the backup ${backupId} of ${createTime ?? 'an unknown time'}, of ${of}. The cluster stays. This cannot be undone.`;
    const lookWith = { tool: 'tidb_list_backups', arguments: { clusterId: clusterId ?? '' } };
    return { summary, effects, target: { backup }, lookWith };
  },
  request: ({ backupId }) => deleteBackup(backupId),
  result: changedBackup,
};
