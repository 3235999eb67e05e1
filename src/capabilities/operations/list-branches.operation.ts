import { z } from 'zod';
import { listBranches } from '../../tidb-cloud/endpoints.js';
import { branchSummary, toBranchSummary, upstreamBranch } from '../branch-shape.js';
import { idField, nextPage, page, pageFields, unlessEmpty } from '../input-fields.js';
import { defineOperation, READS_TIDB_CLOUD } from '../operation.js';
import { maybe } from '../upstream-fields.js';

const answer = z.object({ branches: z.array(upstreamBranch).nullish(), nextPageToken: maybe(z.string()) });

/** The branches of one cluster. */
export const listBranchesOperation = defineOperation({
  name: 'list_branches',
  title: 'List branches',
  description:
    'Lists the branches of one cluster: id, name, state and the parent each was made from. A branch is a copy of the cluster at a point in time, with endpoints of its own.',
  input: z.strictObject({ clusterId: idField('The id of the cluster, from the list of clusters.'), ...pageFields }),
  output: page(branchSummary, 'Branches of this page.'),
  annotations: READS_TIDB_CLOUD,
  route: { method: 'GET', path: '/clusters/:clusterId/branches', operationId: 'listBranches', tag: 'Branches' },
  example: {
    input: { clusterId: '10581234567890123456' },
    output: {
      items: [
        {
          branchId: 'bran-d4k7m2p9q1',
          clusterId: '10581234567890123456',
          displayName: 'migration-test',
          state: 'ACTIVE',
          parentId: '10581234567890123456',
          parentDisplayName: 'orders',
          createTime: '2026-04-01T12:00:00Z',
        },
      ],
    },
  },
  async run(context, { clusterId, pageSize, pageToken }) {
    const request = listBranches(clusterId, { pageSize, pageToken: unlessEmpty(pageToken) });
    const { branches, nextPageToken } = await context.ask(request, answer);
    return { items: (branches ?? []).map(toBranchSummary), ...nextPage(nextPageToken) };
  },
});
