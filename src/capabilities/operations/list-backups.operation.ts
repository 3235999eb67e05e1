import { z } from 'zod';
import { listBackups } from '../../tidb-cloud/endpoints.js';
import { idField, nextPage, page, pageFields, unlessEmpty } from '../input-fields.js';
import { defineOperation, READS_TIDB_CLOUD } from '../operation.js';
import { maybe, upstreamId, upstreamText } from '../upstream-fields.js';

const backup = z
  .object({
    backupId: z.string(),
    clusterId: z.string().optional(),
    createTime: z.string().optional().describe('When it was taken.'),
  })
  .meta({ title: 'Backup' });

const answer = z.object({
  backups: z
    .array(z.object({ backupId: upstreamId, clusterId: maybe(upstreamId), createTime: maybe(upstreamText) }))
    .nullish(),
  nextPageToken: maybe(z.string()),
});

/** The backups of one cluster; TiDB Cloud lists them by cluster only. */
export const listBackupsOperation = defineOperation({
  name: 'list_backups',
  title: 'List backups',
  description: 'Lists the backups of one cluster: id and when each was taken. A cluster can be restored from one.',
  input: z.strictObject({ clusterId: idField('The id of the cluster, from the list of clusters.'), ...pageFields }),
  output: page(backup, 'Backups of this page.'),
  annotations: READS_TIDB_CLOUD,
  route: { method: 'GET', path: '/backups', operationId: 'listBackups', tag: 'Backups' },
  example: {
    input: { clusterId: '10581234567890123456' },
    output: {
      items: [{ backupId: '2018945', clusterId: '10581234567890123456', createTime: '2026-04-02T07:00:00Z' }],
    },
  },
  async run(context, { clusterId, pageSize, pageToken }) {
    const request = listBackups(clusterId, { pageSize, pageToken: unlessEmpty(pageToken) });
    const { backups, nextPageToken } = await context.ask(request, answer);
    return { items: backups ?? [], ...nextPage(nextPageToken) };
  },
});
