import { z } from 'zod';
import { getBranch } from '../../tidb-cloud/endpoints.js';
import { branch, toBranch, upstreamBranch } from '../branch-shape.js';
import { idField } from '../input-fields.js';
import { defineOperation, READS_TIDB_CLOUD } from '../operation.js';

/** One branch with its endpoints. */
export const getBranchOperation = defineOperation({
  name: 'get_branch',
  title: 'Get a branch',
  description:
    'Answers one branch of a cluster: state, parent, the point in time it was made from, endpoints to connect to, the prefix of its SQL users.',
  input: z.strictObject({
    clusterId: idField('The id of the cluster, from the list of clusters.'),
    branchId: idField('The id of the branch, from the list of branches.'),
  }),
  output: branch,
  annotations: READS_TIDB_CLOUD,
  route: {
    method: 'GET',
    path: '/clusters/:clusterId/branches/:branchId',
    operationId: 'getBranch',
    tag: 'Branches',
  },
  example: {
    input: { clusterId: '10581234567890123456', branchId: 'bran-d4k7m2p9q1' },
    output: {
      branchId: 'bran-d4k7m2p9q1',
      clusterId: '10581234567890123456',
      displayName: 'migration-test',
      state: 'ACTIVE',
      parentId: '10581234567890123456',
      parentDisplayName: 'orders',
      createTime: '2026-04-01T12:00:00Z',
      parentTimestamp: '2026-04-01T11:59:00Z',
      updateTime: '2026-04-01T12:05:00Z',
      publicEndpoint: { host: 'gateway01.us-west-2.prod.aws.tidbcloud.com', port: 4000, disabled: false },
      userPrefix: '3aB9cDeFgHjKmNp',
    },
  },
  async run(context, { clusterId, branchId }) {
    return toBranch(await context.ask(getBranch(clusterId, branchId), upstreamBranch));
  },
});
