import { z } from 'zod';
import { listClusters } from '../../tidb-cloud/endpoints.js';
import { clusterSummary, toClusterSummary, upstreamCluster } from '../cluster-shape.js';
import { nextPage, page, pageFields, unlessEmpty } from '../input-fields.js';
import { defineOperation, READS_TIDB_CLOUD } from '../operation.js';
import { maybe } from '../upstream-fields.js';

const answer = z.object({ clusters: z.array(upstreamCluster).nullish(), nextPageToken: maybe(z.string()) });

/** The TiDB Cloud Starter and Essential clusters that the credential sees. */
export const listClustersOperation = defineOperation({
  name: 'list_clusters',
  title: 'List clusters',
  description:
    'Lists the TiDB Cloud Starter and Essential clusters that the credential sees: id, name, state, plan, region, project, version. Endpoints and settings of one cluster come with its details.',
  input: z.strictObject({
    ...pageFields,
    filter: z
      .string()
      .regex(/^[ -~]{0,1024}$/, 'must be at most 1024 printable ASCII characters')
      .optional()
      .describe(
        'Only clusters that fit: comparisons with `=`, joined by ` AND `, of region.provider, region.name, state, projectId, clusterId, displayName or labels.{key}. Example: state="ACTIVE" AND region.provider="aws"',
      ),
  }),
  output: page(clusterSummary, 'Clusters of this page.'),
  annotations: READS_TIDB_CLOUD,
  route: { method: 'GET', path: '/clusters', operationId: 'listClusters', tag: 'Clusters' },
  example: {
    input: { pageSize: 20, filter: 'state="ACTIVE"' },
    output: {
      items: [
        {
          clusterId: '10581234567890123456',
          displayName: 'orders',
          state: 'ACTIVE',
          plan: 'STARTER',
          region: 'regions/aws-us-west-2',
          cloudProvider: 'aws',
          projectId: '1372813089454525346',
          version: 'v8.5.2',
          createTime: '2026-03-01T08:30:00Z',
        },
      ],
      nextPageToken: 'CAEQFA',
    },
  },
  async run(context, { pageSize, pageToken, filter }) {
    const request = listClusters({ pageSize, pageToken: unlessEmpty(pageToken), filter: unlessEmpty(filter) });
    const { clusters, nextPageToken } = await context.ask(request, answer);
    return { items: (clusters ?? []).map(toClusterSummary), ...nextPage(nextPageToken) };
  },
});
