import { z } from 'zod';
import type { DestructiveOperation, LookContext } from '../../confirm/destructive-operation.js';
import { AppError } from '../../errors/app-error.js';
import { restoreCluster, type RestoreSource } from '../../tidb-cloud/endpoints.js';
import { changedCluster } from '../changed.js';
import { momentField } from '../destructive-fields.js';
import { type Effects, spendingNote } from '../../confirm/effects.js';
import { idField } from '../input-fields.js';
import { checkMoment } from '../moment.js';
import {
  type BackupTarget,
  type ClusterTarget,
  clusterEffect,
  clusterWords,
  lookAtBackup,
  lookAtCluster,
} from '../targets.js';

const ONE_SOURCE = 'must have one of snapshot and pointInTime';

const args = z
  .strictObject({
    snapshot: z
      .strictObject({ backupId: idField('The backup, from the list of backups.') })
      .optional()
      .describe('A backup to restore from.'),
    pointInTime: z
      .strictObject({
        clusterId: idField('The cluster, from the list of clusters.'),
        backupTime: momentField("A moment of the cluster's past."),
      })
      .optional()
      .describe('A point in time to restore from.'),
  })
  .refine(({ snapshot, pointInTime }) => (snapshot === undefined) !== (pointInTime === undefined), ONE_SOURCE)
  .meta({ oneOf: [{ required: ['snapshot'] }, { required: ['pointInTime'] }] });
type Args = z.output<typeof args>;

/** Restores into a new cluster, which costs money. */
export const restoreClusterOperation: DestructiveOperation<typeof args> = {
  name: 'restore_cluster',
  title: 'Restore into a new cluster',
  description:
    'Restores a backup, or a moment of a cluster, into a new cluster; the old one stays as it is. It costs money.',
  kind: 'cluster',
  arguments: args,
  example: { snapshot: { backupId: '2018945' } },
  async look(context, wanted) {
    const { cluster, backup, when } = await lookAtSource(context, wanted);
    const cents = cluster.spendingLimitMonthlyCents;
    const note =
      cents === undefined ? 'It is billed like its source.' : `Billed like its source: ${spendingNote(cents)}`;
    const effects: Effects = {
      target: clusterEffect(cluster, context.utcMs),
      creates: { kind: 'cluster', plan: cluster.plan, region: cluster.region, from: when },
      irreversible: ['What it costs until it is deleted.'],
      cost: { spendingLimitMonthlyCents: cents, note },
    };
    const summary = `Restore ${clusterWords(cluster, context.utcMs)}, ${when}, into a new cluster. The old one stays as it is. ${note}`;
    const lookWith = { tool: 'tidb_list_clusters', arguments: { filter: 'state="RESTORING"' } };
    return { summary, effects, target: { cluster, backup }, lookWith };
  },
  request: ({ snapshot, pointInTime }) => restoreCluster((snapshot ? { snapshot } : { pointInTime }) as RestoreSource),
  result: changedCluster,
};

interface Source {
  readonly cluster: ClusterTarget;
  readonly backup?: BackupTarget;
  readonly when: string;
}

async function lookAtSource(context: LookContext, { snapshot, pointInTime }: Args): Promise<Source> {
  if (pointInTime !== undefined) {
    const { clusterId, backupTime } = pointInTime;
    const cluster = await lookAtCluster(context, clusterId);
    checkMoment('pointInTime.backupTime', backupTime, cluster.createTime, context.utcMs);
    return { cluster, when: `as it was at ${backupTime}` };
  }
  const backup = await lookAtBackup(context, snapshot?.backupId ?? '');
  if (backup.clusterId === undefined) throw new AppError('NOT_FOUND', 'TiDB Cloud does not say whose backup this is.');
  const cluster = await lookAtCluster(context, backup.clusterId);
  return { cluster, backup, when: `from the backup ${backup.backupId} of ${backup.createTime ?? 'an unknown time'}` };
}
