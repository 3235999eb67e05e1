import { ApiError, invalidArgument, notFound } from './api-error.js';
import { branchesOf, createBranch, deleteBranch, findBranch, resetBranch } from './branch-operations.js';
import { clusterFilter } from './cluster-filter.js';
import { createCluster, deleteCluster, findCluster, patchCluster, restoreCluster } from './cluster-operations.js';
import { readCreateBranch, readCreateCluster, readPatchCluster, readRestore } from './inputs.js';
import type { Organization } from './organization.js';
import { page } from './paging.js';
import { REGIONS, type Backup, type Branch, type Cluster, type Project } from './resources.js';

/** The two APIs, each on a port of its own. */
export type SandboxHost = 'serverless' | 'iam';

/** One authenticated request. */
export interface Call {
  readonly organization: Organization;
  readonly query: URLSearchParams;
  /** The ids in the path, decoded, in order. */
  readonly ids: readonly string[];
  readonly body: unknown;
}

interface Route {
  readonly host: SandboxHost;
  readonly method: string;
  /** Segments after `/v1beta1`; `*` stands for an id. */
  readonly path: string;
  readonly handle: (call: Call) => object;
}

const DEFAULT_PAGE_SIZE = 10;

const ROUTES: readonly Route[] = [
  serverless('GET', 'clusters', listClusters),
  serverless('POST', 'clusters', ({ organization, body }) =>
    createCluster(organization, readCreateCluster(body), 'CREATING'),
  ),
  serverless('POST', 'clusters:restore', ({ organization, body }) => ({
    clusterId: restoreCluster(organization, readRestore(body)).clusterId,
  })),
  serverless('GET', 'clusters/*', getCluster),
  serverless('PATCH', 'clusters/*', ({ organization, ids, body }) =>
    patchCluster(organization, id(ids, 0), readPatchCluster(body)),
  ),
  serverless('DELETE', 'clusters/*', ({ organization, ids }) => deleteCluster(organization, id(ids, 0))),
  serverless('GET', 'clusters/*/branches', listBranches),
  serverless('POST', 'clusters/*/branches', ({ organization, ids, body }) =>
    createBranch(organization, id(ids, 0), readCreateBranch(body)),
  ),
  serverless('GET', 'clusters/*/branches/*', getBranch),
  serverless('POST', 'clusters/*/branches/*:reset', ({ organization, ids }) =>
    resetBranch(organization, id(ids, 0), id(ids, 1)),
  ),
  serverless('DELETE', 'clusters/*/branches/*', ({ organization, ids }) =>
    deleteBranch(organization, id(ids, 0), id(ids, 1)),
  ),
  serverless('GET', 'regions', listRegions),
  serverless('GET', 'backups', listBackups),
  serverless('GET', 'backups/*', ({ organization, ids }) => findBackup(organization, id(ids, 0))),
  serverless('DELETE', 'backups/*', deleteBackup),
  { host: 'iam', method: 'GET', path: 'projects', handle: listProjects },
];

const PATTERNS = ROUTES.map((route) => ({
  route,
  pattern: new RegExp(`^/v1beta1/${route.path.replaceAll('*', '([^/:]+)')}$`),
}));

/** Answers a request whose key has been accepted; throws an ApiError for all that is no success. */
export function route(host: SandboxHost, method: string, pathname: string, call: Omit<Call, 'ids'>): object {
  const matching = PATTERNS.filter(({ route, pattern }) => route.host === host && pattern.test(pathname));
  if (matching.length === 0) throw notFound('path');
  const found = matching.find(({ route }) => route.method === method);
  if (found === undefined) throw new ApiError(405, 12, 'Method Not Allowed');
  const ids = (found.pattern.exec(pathname) ?? []).slice(1).map(decode);
  return found.route.handle({ ...call, ids });
}

function serverless(method: string, path: string, handle: (call: Call) => object): Route {
  return { host: 'serverless', method, path, handle };
}

function listClusters({ organization, query }: Call): object {
  const filter = query.get('filter') ?? '';
  const all = organization.clusters.all();
  const clusters = page(filter === '' ? all : all.filter(clusterFilter(filter)), query, 'clusters', DEFAULT_PAGE_SIZE);
  const { items, ...rest } = clusters;
  return { clusters: items, ...rest };
}

function getCluster({ organization, query, ids }: Call): object {
  const cluster = findCluster(organization, id(ids, 0));
  return view(query) === 'FULL' ? cluster : basic(cluster);
}

function listBranches({ organization, query, ids }: Call): object {
  const clusterId = id(ids, 0);
  const branches = branchesOf(organization, clusterId);
  const { items, ...rest } = page(branches, query, `branches of ${clusterId}`, DEFAULT_PAGE_SIZE);
  return { branches: items, ...rest };
}

function getBranch({ organization, query, ids }: Call): object {
  const branch = findBranch(organization, id(ids, 0), id(ids, 1));
  return view(query) === 'FULL' ? branch : basic(branch);
}

function listRegions({ query }: Call): object {
  const provider = query.get('cloudProvider') ?? '';
  const plan = query.get('servicePlan') ?? '';
  if (!['', 'Starter', 'Essential', 'Premium', 'BYOC'].includes(plan)) throw invalidArgument('servicePlan is invalid');
  const regions = REGIONS.filter(
    (region) =>
      (provider === '' || region.cloudProvider === provider) && (plan === '' || region.servicePlans.includes(plan)),
  );
  return { regions };
}

function listBackups({ organization, query }: Call): object {
  const clusterId = query.get('clusterId') ?? '';
  if (clusterId === '') throw invalidArgument('clusterId is required');
  findCluster(organization, clusterId);
  const backups = [...organization.backups.values()].filter((backup) => backup.clusterId === clusterId);
  const { items, ...rest } = page(backups, query, 'backups', DEFAULT_PAGE_SIZE);
  return { backups: items, ...rest };
}

function deleteBackup({ organization, ids }: Call): object {
  const backup = findBackup(organization, id(ids, 0));
  organization.backups.delete(backup.backupId);
  return backup;
}

function findBackup(organization: Organization, backupId: string): Backup {
  const backup = organization.backups.get(backupId);
  if (backup === undefined) throw notFound(`backup ${backupId}`);
  return backup;
}

function listProjects({ organization, query }: Call): object {
  const clusters = organization.clusters.all();
  const projects = organization.projects.map((seed): Project => ({
    id: seed.id,
    org_id: organization.id,
    name: seed.name,
    cluster_count: clusters.filter(({ labels }) => labels['tidb.cloud/project'] === seed.id).length,
    user_count: seed.userCount,
    create_timestamp: seed.createTimestamp,
    aws_cmek_enabled: false,
  }));
  const { items, nextPageToken } = page(projects, query, 'projects', 100);
  return { projects: items, nextPageToken };
}

function view(query: URLSearchParams): 'BASIC' | 'FULL' {
  const text = query.get('view') ?? 'FULL';
  if (text !== 'BASIC' && text !== 'FULL') throw invalidArgument('view is invalid');
  return text;
}

/** The document does not say what BASIC leaves out; here it is how to connect. */
function basic(resource: Cluster | Branch): object {
  const { endpoints: _endpoints, userPrefix: _userPrefix, ...rest } = resource;
  return rest;
}

function id(ids: readonly string[], index: number): string {
  return ids[index] ?? '';
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    throw invalidArgument('the path is not well encoded');
  }
}
