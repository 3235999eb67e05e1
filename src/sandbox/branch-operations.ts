import { aborted, failedPrecondition, invalidArgument, notFound } from './api-error.js';
import { findActiveCluster, findCluster } from './cluster-operations.js';
import type { CreateBranchInput } from './inputs.js';
import { endpointsIn, userPrefixOf, type Organization } from './organization.js';
import type { Branch, BranchState, Cluster } from './resources.js';

const MAX_BRANCHES = 20;

/** What a branch starts from beside its input. */
export interface BranchOrigin {
  readonly createdBy: string;
  readonly createTime: string;
  readonly state: BranchState;
}

/** A cluster's branches in order of creation; throws an ApiError (404) where there is no such cluster. */
export function branchesOf(organization: Organization, clusterId: string): Branch[] {
  findCluster(organization, clusterId);
  return organization.branches.all().filter((branch) => branch.clusterId === clusterId);
}

/** The branch; throws an ApiError (404) where that cluster has none of that id. */
export function findBranch(organization: Organization, clusterId: string, branchId: string): Branch {
  findCluster(organization, clusterId);
  const branch = organization.branches.get(branchId);
  if (branch?.clusterId !== clusterId) throw notFound(`branch ${branchId}`);
  return branch;
}

/** Adds a branch that is CREATING until its time has passed. */
export function createBranch(organization: Organization, clusterId: string, input: CreateBranchInput): Branch {
  const cluster = findActiveCluster(organization, clusterId);
  if (branchesOf(organization, clusterId).length >= MAX_BRANCHES) {
    throw failedPrecondition(`a cluster may have ${MAX_BRANCHES} branches`);
  }
  const createTime = organization.timestamp();
  const origin = { createdBy: 'api-key@sandbox.example', createTime, state: 'CREATING' as const };
  const branch = buildBranch(organization, cluster, input, origin);
  const due = { afterMs: organization.durations.provisioningMs, to: 'ACTIVE' as const };
  organization.branches.add(branch.branchId, branch, due);
  return branch;
}

/** Makes a branch without putting it anywhere. */
export function buildBranch(
  organization: Organization,
  cluster: Cluster,
  input: CreateBranchInput,
  origin: BranchOrigin,
): Branch {
  const { clusterId } = cluster;
  const parentId = input.parentId ?? clusterId;
  const parent = parentId === clusterId ? cluster : findBranch(organization, clusterId, parentId);
  const parentTimestamp = input.parentTimestamp ?? origin.createTime;
  if (Date.parse(parentTimestamp) > organization.clock.utcMs()) throw invalidArgument('parentTimestamp lies ahead');
  const branchId = organization.newBranchId();
  return {
    name: `clusters/${clusterId}/branches/${branchId}`,
    branchId,
    displayName: input.displayName,
    clusterId,
    parentId,
    createdBy: origin.createdBy,
    state: origin.state,
    endpoints: endpointsIn(cluster.region.regionId.slice('aws-'.length)),
    userPrefix: userPrefixOf(branchId),
    createTime: origin.createTime,
    updateTime: origin.createTime,
    annotations: { 'tidb.cloud/has-set-password': String(input.rootPassword !== undefined) },
    parentDisplayName: parent.displayName,
    parentTimestamp: toSeconds(parentTimestamp),
  };
}

/** Puts a branch into RESTORING until it equals its parent's present state. */
export function resetBranch(organization: Organization, clusterId: string, branchId: string): Branch {
  const branch = findActiveBranch(organization, clusterId, branchId);
  organization.branches.change(branchId, 'RESTORING', organization.durations.provisioningMs, 'ACTIVE');
  branch.parentTimestamp = toSeconds(organization.timestamp());
  return branch;
}

/** Puts a branch into DELETED, the upstream's word for being deleted; it goes once its time has passed. */
export function deleteBranch(organization: Organization, clusterId: string, branchId: string): Branch {
  const branch = findActiveBranch(organization, clusterId, branchId);
  const child = organization.branches.all().find(({ parentId }) => parentId === branchId);
  if (child !== undefined) throw aborted(`branch ${branchId} has child branches`);
  organization.branches.change(branchId, 'DELETED', organization.durations.provisioningMs, 'gone');
  return branch;
}

function findActiveBranch(organization: Organization, clusterId: string, branchId: string): Branch {
  const branch = findBranch(organization, clusterId, branchId);
  if (branch.state !== 'ACTIVE') throw aborted(`branch ${branchId} is ${branch.state}, it must be ACTIVE`);
  return branch;
}

/** The upstream cuts parent timestamps to whole seconds without rounding. */
function toSeconds(timestamp: string): string {
  return new Date(Math.floor(Date.parse(timestamp) / 1000) * 1000).toISOString();
}
