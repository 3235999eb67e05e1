import { aborted, failedPrecondition, invalidArgument, notFound } from './api-error.js';
import type { CreateClusterInput, PatchClusterInput, RestoreInput } from './inputs.js';
import { endpointsIn, userPrefixOf, type Organization } from './organization.js';
import { REGIONS, type Cluster, type ClusterState } from './resources.js';

const MAX_CLUSTERS = 200;
const MAX_LABELS = 64;
const DEFAULT_AUTO_SCALING = { minRcu: 2000, maxRcu: 4000 };

/** The fields of a `PATCH` that may stand in its mask, by the first part of their path. */
const MASKABLE = [
  'displayName',
  'spendingLimit',
  'automatedBackupPolicy',
  'endpoints',
  'labels',
  'auditLogConfig',
  'autoScaling',
] as const;
type Maskable = (typeof MASKABLE)[number];

/** What a cluster starts from beside its input. */
export interface ClusterOrigin {
  readonly createdBy: string;
  readonly createTime: string;
  readonly state: ClusterState;
}

/** The cluster; throws an ApiError (404) where the organization has none of that id. */
export function findCluster(organization: Organization, clusterId: string): Cluster {
  const cluster = organization.clusters.get(clusterId);
  if (cluster === undefined) throw notFound(`cluster ${clusterId}`);
  return cluster;
}

/** The cluster if it is ACTIVE; throws an ApiError (409) where its state does not allow a change. */
export function findActiveCluster(organization: Organization, clusterId: string): Cluster {
  const cluster = findCluster(organization, clusterId);
  if (cluster.state !== 'ACTIVE') throw aborted(`cluster ${clusterId} is ${cluster.state}, it must be ACTIVE`);
  return cluster;
}

/** Adds a cluster that is CREATING, or RESTORING, until its time has passed. */
export function createCluster(organization: Organization, input: CreateClusterInput, state: ClusterState): Cluster {
  if (organization.clusters.all().length >= MAX_CLUSTERS) {
    throw failedPrecondition(`an organization may have ${MAX_CLUSTERS} clusters`);
  }
  const createdBy = 'api-key@sandbox.example';
  const cluster = buildCluster(organization, input, { createdBy, createTime: organization.timestamp(), state });
  const due = { afterMs: organization.durations.provisioningMs, to: 'ACTIVE' as const };
  organization.clusters.add(cluster.clusterId, cluster, due);
  return cluster;
}

/** Makes a cluster without putting it anywhere; throws an ApiError (400) for a region or project that is not there. */
export function buildCluster(organization: Organization, input: CreateClusterInput, origin: ClusterOrigin): Cluster {
  const region = REGIONS.find(({ name }) => name === input.region.name);
  if (region === undefined) throw invalidArgument(`region ${input.region.name} is not available`);
  const clusterId = organization.newId();
  const plan = input.autoScaling === undefined ? 'Starter' : 'Essential';
  const endpoints = endpointsIn(region.regionId.slice('aws-'.length));
  Object.assign(endpoints.public, input.endpoints?.public);
  return {
    name: `clusters/${clusterId}`,
    clusterId,
    displayName: input.displayName,
    region,
    spendingLimit: input.spendingLimit ?? { monthly: 0 },
    automatedBackupPolicy: { startTime: '07:00', retentionDays: 14, ...defined(input.automatedBackupPolicy) },
    endpoints,
    encryptionConfig: { enhancedEncryptionEnabled: input.encryptionConfig?.enhancedEncryptionEnabled ?? false },
    highAvailabilityType: input.highAvailabilityType ?? 'ZONAL',
    version: 'v8.5.3',
    createdBy: origin.createdBy,
    userPrefix: userPrefixOf(clusterId),
    state: origin.state,
    labels: labelsFor(organization, input.labels),
    annotations: {
      'tidb.cloud/has-set-password': String(input.rootPassword !== undefined),
      'tidb.cloud/available-features': 'DELEGATE_USER,DISABLE_PUBLIC_LB,PRIVATELINK',
    },
    createTime: origin.createTime,
    updateTime: origin.createTime,
    auditLogConfig: { enabled: false, unredacted: false, ...defined(input.auditLogConfig) },
    clusterPlan: plan === 'Starter' ? 'STARTER' : 'ESSENTIAL',
    ...(plan === 'Starter' ? {} : { autoScaling: input.autoScaling ?? DEFAULT_AUTO_SCALING }),
    servicePlan: plan,
  };
}

/** Changes what the mask names; throws an ApiError (400) for a field that can't be changed. */
export function patchCluster(organization: Organization, clusterId: string, input: PatchClusterInput): Cluster {
  const fields = input.updateMask.split(',').map((path) => maskedField(path.trim()));
  const missing = fields.find((field) => input.cluster[field] === undefined);
  if (missing !== undefined) throw invalidArgument(`updateMask names ${missing}, which the cluster does not have`);
  if (fields.includes('autoScaling') && findCluster(organization, clusterId).servicePlan === 'Starter') {
    throw invalidArgument('autoScaling is not available for Starter clusters');
  }
  findActiveCluster(organization, clusterId);
  const cluster = organization.clusters.touch(clusterId);
  const { displayName, spendingLimit, automatedBackupPolicy, endpoints, labels, auditLogConfig, autoScaling } =
    input.cluster;
  const wanted = new Set(fields);
  if (wanted.has('displayName') && displayName !== undefined) cluster.displayName = displayName;
  if (wanted.has('spendingLimit') && spendingLimit !== undefined) cluster.spendingLimit = spendingLimit;
  if (wanted.has('automatedBackupPolicy')) Object.assign(cluster.automatedBackupPolicy, defined(automatedBackupPolicy));
  if (wanted.has('endpoints')) Object.assign(cluster.endpoints.public, defined(endpoints?.public));
  if (wanted.has('labels')) cluster.labels = labelsFor(organization, labels);
  if (wanted.has('auditLogConfig')) Object.assign(cluster.auditLogConfig, defined(auditLogConfig));
  if (wanted.has('autoScaling') && autoScaling !== undefined) cluster.autoScaling = autoScaling;
  return cluster;
}

/** Puts a cluster into DELETING; it goes with its branches and backups once its time has passed. */
export function deleteCluster(organization: Organization, clusterId: string): Cluster {
  const cluster = findCluster(organization, clusterId);
  if (cluster.state === 'DELETING') throw aborted(`cluster ${clusterId} is being deleted already`);
  const { provisioningMs } = organization.durations;
  organization.clusters.change(clusterId, 'DELETING', provisioningMs, 'gone');
  for (const branch of organization.branches.all()) {
    if (branch.clusterId === clusterId)
      organization.branches.change(branch.branchId, 'DELETED', provisioningMs, 'gone');
  }
  for (const backup of organization.backups.values()) {
    if (backup.clusterId === clusterId) organization.backups.delete(backup.backupId);
  }
  return cluster;
}

/** Starts a new cluster from a backup or from a moment of a cluster's past. */
export function restoreCluster(organization: Organization, input: RestoreInput): Cluster {
  const source =
    'snapshot' in input
      ? sourceOfBackup(organization, input.snapshot.backupId)
      : sourceInTime(organization, input.pointInTime);
  const { region, highAvailabilityType, spendingLimit, labels, autoScaling } = source;
  const displayName = `${source.displayName.slice(0, 55)}-restored`;
  const copied = {
    displayName,
    region,
    highAvailabilityType,
    spendingLimit: { ...spendingLimit },
    labels: { ...labels },
  };
  return createCluster(organization, autoScaling === undefined ? copied : { ...copied, autoScaling }, 'RESTORING');
}

function sourceOfBackup(organization: Organization, backupId: string): Cluster {
  const backup = organization.backups.get(backupId);
  if (backup === undefined) throw notFound(`backup ${backupId}`);
  return findCluster(organization, backup.clusterId);
}

function sourceInTime(organization: Organization, at: { clusterId: string; backupTime: string }): Cluster {
  const source = findCluster(organization, at.clusterId);
  const moment = Date.parse(at.backupTime);
  if (moment > organization.clock.utcMs() || moment < Date.parse(source.createTime)) {
    throw invalidArgument('backupTime must lie between the creation of the cluster and now');
  }
  return source;
}

function maskedField(path: string): Maskable {
  const field = MASKABLE.find((name) => path === name || path.startsWith(`${name}.`));
  if (field === undefined) throw invalidArgument(`updateMask: ${path} cannot be updated`);
  return field;
}

function labelsFor(organization: Organization, labels: Record<string, string> = {}): Record<string, string> {
  const project = labels['tidb.cloud/project'] ?? organization.projects[0]?.id ?? '';
  if (!organization.projects.some(({ id }) => id === project))
    throw invalidArgument(`project ${project} is not available`);
  if (Object.keys(labels).length > MAX_LABELS) throw invalidArgument(`a cluster may have ${MAX_LABELS} labels`);
  return { ...labels, 'tidb.cloud/organization': organization.id, 'tidb.cloud/project': project };
}

/** A copy without its undefined members, so that they overwrite nothing. */
function defined<T extends object>(value: T | undefined): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const entries = Object.entries(value ?? {}).filter(([, member]) => member !== undefined);
  return Object.fromEntries(entries) as { [K in keyof T]?: Exclude<T[K], undefined> };
}
