import { z } from 'zod';
import { getCluster } from '../../tidb-cloud/endpoints.js';
import { cluster, toCluster, upstreamCluster } from '../cluster-shape.js';
import { idField } from '../input-fields.js';
import { defineOperation, READS_TIDB_CLOUD } from '../operation.js';

/** One cluster with its endpoints and settings. */
export const getClusterOperation = defineOperation({
  name: 'get_cluster',
  title: 'Get a cluster',
  description:
    'Answers one TiDB Cloud Starter or Essential cluster: state, plan, region, version, endpoints to connect to, the prefix of its SQL users, spending limit, scaling, backup schedule (UTC), labels.',
  input: z.strictObject({ clusterId: idField('The id of the cluster, from the list of clusters.') }),
  output: cluster,
  annotations: READS_TIDB_CLOUD,
  route: { method: 'GET', path: '/clusters/:clusterId', operationId: 'getCluster', tag: 'Clusters' },
  example: {
    input: { clusterId: '10581234567890123456' },
    output: {
      clusterId: '10581234567890123456',
      displayName: 'orders',
      state: 'ACTIVE',
      plan: 'STARTER',
      region: 'regions/aws-us-west-2',
      cloudProvider: 'aws',
      projectId: '1372813089454525346',
      version: 'v8.5.2',
      createTime: '2026-03-01T08:30:00Z',
      updateTime: '2026-03-02T10:00:00Z',
      publicEndpoint: { host: 'gateway01.us-west-2.prod.aws.tidbcloud.com', port: 4000, disabled: false },
      userPrefix: '2vQ8tYkLm3nPqRs',
      spendingLimitMonthlyCents: 1000,
      backupStartTime: '07:00',
      backupRetentionDays: 14,
      labels: { 'tidb.cloud/project': '1372813089454525346' },
    },
  },
  async run(context, { clusterId }) {
    return toCluster(await context.ask(getCluster(clusterId), upstreamCluster));
  },
});
