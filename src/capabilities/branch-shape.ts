import { z } from 'zod';
import { endpoint, upstreamEndpoints } from './cluster-shape.js';
import { maybe, upstreamId, upstreamText } from './upstream-fields.js';

const summaryFields = {
  branchId: z.string(),
  clusterId: z.string().optional(),
  displayName: z.string().optional(),
  state: z.string().optional().describe('CREATING, ACTIVE, RESTORING or DELETED.'),
  parentId: z.string().optional().describe('The branch or cluster that it was made from.'),
  parentDisplayName: z.string().optional(),
  createTime: z.string().optional(),
};

/** What a list says of a branch. */
export const branchSummary = z.object(summaryFields).meta({ title: 'BranchSummary' });

/** Everything that a model needs of one branch. */
export const branch = z
  .object({
    ...summaryFields,
    parentTimestamp: z.string().optional().describe('The point in time of the parent that it was made from.'),
    updateTime: z.string().optional(),
    publicEndpoint: endpoint.optional(),
    privateEndpoint: endpoint.optional(),
    userPrefix: z.string().optional().describe('Every SQL user name on this branch begins with it and a dot.'),
  })
  .meta({ title: 'Branch' });

/** A branch as TiDB Cloud answers it, as far as it is passed on: its creator's e-mail address is not. */
export const upstreamBranch = z.object({
  branchId: upstreamId,
  clusterId: maybe(upstreamId),
  displayName: maybe(upstreamText),
  state: maybe(upstreamText),
  parentId: maybe(upstreamId),
  parentDisplayName: maybe(upstreamText),
  parentTimestamp: maybe(upstreamText),
  createTime: maybe(upstreamText),
  updateTime: maybe(upstreamText),
  endpoints: maybe(upstreamEndpoints),
  userPrefix: maybe(upstreamText),
});

type UpstreamBranch = z.output<typeof upstreamBranch>;

/** What a list says of a branch that TiDB Cloud answered. */
export function toBranchSummary(found: UpstreamBranch): z.output<typeof branchSummary> {
  return {
    branchId: found.branchId,
    clusterId: found.clusterId,
    displayName: found.displayName,
    state: found.state,
    parentId: found.parentId,
    parentDisplayName: found.parentDisplayName,
    createTime: found.createTime,
  };
}

/** What a model needs of a branch that TiDB Cloud answered. */
export function toBranch(found: UpstreamBranch): z.output<typeof branch> {
  return {
    ...toBranchSummary(found),
    parentTimestamp: found.parentTimestamp,
    updateTime: found.updateTime,
    publicEndpoint: found.endpoints?.public,
    privateEndpoint: found.endpoints?.private,
    userPrefix: found.userPrefix,
  };
}
