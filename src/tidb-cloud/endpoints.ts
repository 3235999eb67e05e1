import type { UpstreamRequest } from './upstream-request.js';

/*
 * Every call that this server makes of TiDB Cloud, one function each. Paths, methods, parameters and bodies are those of
 * TiDB Cloud's own documents, and a test holds them against these.
 */

/** Which page of a list: 1 to 100 items, and the `nextPageToken` of the page before. */
export interface Page {
  readonly pageSize?: number | undefined;
  readonly pageToken?: string | undefined;
}

/** `GET /clusters`; `filter` is a Google AIP expression of `=` and `AND`. */
export function listClusters(page: Page & { readonly filter?: string | undefined }): UpstreamRequest {
  const { pageSize, pageToken, filter } = page;
  return { host: 'serverless', method: 'GET', path: ['clusters'], query: { pageSize, pageToken, filter } };
}

/** `GET /clusters/{clusterId}`. */
export function getCluster(clusterId: string): UpstreamRequest {
  return { host: 'serverless', method: 'GET', path: ['clusters', clusterId] };
}

/** `POST /clusters`. */
export function createCluster(cluster: Readonly<Record<string, unknown>>): UpstreamRequest {
  return { host: 'serverless', method: 'POST', path: ['clusters'], body: cluster };
}

/** `PATCH /clusters/{clusterId}`; `updateMask` names the fields, comma separated. */
export function updateCluster(
  clusterId: string,
  cluster: Readonly<Record<string, unknown>>,
  updateMask: string,
): UpstreamRequest {
  return { host: 'serverless', method: 'PATCH', path: ['clusters', clusterId], body: { cluster, updateMask } };
}

/** `DELETE /clusters/{clusterId}`. */
export function deleteCluster(clusterId: string): UpstreamRequest {
  return { host: 'serverless', method: 'DELETE', path: ['clusters', clusterId] };
}

/** Where a restored cluster's data comes from: a backup, or a moment of a cluster's past (RFC 3339). */
export type RestoreSource =
  | { readonly snapshot: { readonly backupId: string } }
  | { readonly pointInTime: { readonly clusterId: string; readonly backupTime: string } };

/** `POST /clusters:restore`: into a new cluster. */
export function restoreCluster(source: RestoreSource): UpstreamRequest {
  return { host: 'serverless', method: 'POST', path: ['clusters'], suffix: ':restore', body: source };
}

/** `GET /regions`. */
export function listRegions(filter: {
  readonly cloudProvider?: string | undefined;
  readonly servicePlan?: string | undefined;
}): UpstreamRequest {
  const { cloudProvider, servicePlan } = filter;
  return { host: 'serverless', method: 'GET', path: ['regions'], query: { cloudProvider, servicePlan } };
}

/** `GET /clusters/{clusterId}/branches`. */
export function listBranches(clusterId: string, { pageSize, pageToken }: Page): UpstreamRequest {
  const path = ['clusters', clusterId, 'branches'];
  return { host: 'serverless', method: 'GET', path, query: { pageSize, pageToken } };
}

/** `GET /clusters/{clusterId}/branches/{branchId}`. */
export function getBranch(clusterId: string, branchId: string): UpstreamRequest {
  return { host: 'serverless', method: 'GET', path: ['clusters', clusterId, 'branches', branchId] };
}

/** `POST /clusters/{clusterId}/branches`. */
export function createBranch(clusterId: string, branch: Readonly<Record<string, unknown>>): UpstreamRequest {
  return { host: 'serverless', method: 'POST', path: ['clusters', clusterId, 'branches'], body: branch };
}

/** `POST /clusters/{clusterId}/branches/{branchId}:reset`: back to the parent's present state. */
export function resetBranch(clusterId: string, branchId: string): UpstreamRequest {
  return { host: 'serverless', method: 'POST', path: ['clusters', clusterId, 'branches', branchId], suffix: ':reset' };
}

/** `DELETE /clusters/{clusterId}/branches/{branchId}`. */
export function deleteBranch(clusterId: string, branchId: string): UpstreamRequest {
  return { host: 'serverless', method: 'DELETE', path: ['clusters', clusterId, 'branches', branchId] };
}

/** `GET /backups` of one cluster. */
export function listBackups(clusterId: string, { pageSize, pageToken }: Page): UpstreamRequest {
  return { host: 'serverless', method: 'GET', path: ['backups'], query: { clusterId, pageSize, pageToken } };
}

/** `GET /backups/{backupId}`. */
export function getBackup(backupId: string): UpstreamRequest {
  return { host: 'serverless', method: 'GET', path: ['backups', backupId] };
}

/** `DELETE /backups/{backupId}`. */
export function deleteBackup(backupId: string): UpstreamRequest {
  return { host: 'serverless', method: 'DELETE', path: ['backups', backupId] };
}

/** `GET /projects` of IAM. */
export function listProjects({ pageSize, pageToken }: Page): UpstreamRequest {
  return { host: 'iam', method: 'GET', path: ['projects'], query: { pageSize, pageToken } };
}
