/*
 * The resources as they go over the wire, field by field as TiDB Cloud's documents have them. Fields that the sandbox
 * never fills are left out.
 */

/** A place for clusters. */
export interface Region {
  readonly name: string;
  readonly regionId: string;
  readonly cloudProvider: 'aws';
  readonly displayName: string;
  readonly provider: string;
  readonly servicePlans: readonly string[];
}

/** Networks that may reach a public endpoint. */
export interface AuthorizedNetwork {
  startIpAddress: string;
  endIpAddress: string;
  displayName: string;
}

/** Where SQL clients connect. */
export interface Endpoints {
  public: { host: string; port: number; disabled: boolean; authorizedNetworks: AuthorizedNetwork[] };
  private: { host: string; port: number; aws: { serviceName: string; availabilityZone: string[] } };
}

/** States that a sandbox cluster can be in. */
export type ClusterState = 'CREATING' | 'ACTIVE' | 'RESTORING' | 'DELETING';

/** A Starter or Essential cluster. */
export interface Cluster {
  readonly name: string;
  readonly clusterId: string;
  displayName: string;
  readonly region: Region;
  spendingLimit: { monthly: number };
  automatedBackupPolicy: { startTime: string; retentionDays: number };
  endpoints: Endpoints;
  encryptionConfig: { enhancedEncryptionEnabled: boolean };
  readonly highAvailabilityType: 'ZONAL' | 'REGIONAL';
  readonly version: string;
  readonly createdBy: string;
  readonly userPrefix: string;
  state: ClusterState;
  labels: Record<string, string>;
  annotations: Record<string, string>;
  readonly createTime: string;
  updateTime: string;
  auditLogConfig: { enabled: boolean; unredacted: boolean };
  readonly clusterPlan: 'STARTER' | 'ESSENTIAL';
  autoScaling?: { minRcu: number; maxRcu: number };
  readonly servicePlan: 'Starter' | 'Essential';
}

/** States that a branch can be in; `DELETED` is the upstream's word for "being deleted". */
export type BranchState = 'CREATING' | 'ACTIVE' | 'DELETED' | 'RESTORING';

/** A branch of a cluster. */
export interface Branch {
  readonly name: string;
  readonly branchId: string;
  readonly displayName: string;
  readonly clusterId: string;
  readonly parentId: string;
  readonly createdBy: string;
  state: BranchState;
  readonly endpoints: Endpoints;
  readonly userPrefix: string;
  readonly createTime: string;
  updateTime: string;
  readonly annotations: Record<string, string>;
  readonly parentDisplayName: string;
  parentTimestamp: string;
}

/** A backup of a cluster. */
export interface Backup {
  readonly name: string;
  readonly backupId: string;
  readonly clusterId: string;
  readonly createTime: string;
}

/** A project of an organization, as IAM has it: other spelling, other habits. */
export interface Project {
  readonly id: string;
  readonly org_id: string;
  readonly name: string;
  readonly cluster_count: number;
  readonly user_count: number;
  readonly create_timestamp: string;
  readonly aws_cmek_enabled: boolean;
}

const PLANS = ['Starter', 'Essential'];

function awsRegion(code: string, place: string, servicePlans: readonly string[] = PLANS): Region {
  const regionId = `aws-${code}`;
  const displayName = `${place} (${code})`;
  return { name: `regions/${regionId}`, regionId, cloudProvider: 'aws', displayName, provider: 'aws', servicePlans };
}

/** The regions that the sandbox offers. */
export const REGIONS: readonly Region[] = [
  awsRegion('us-east-1', 'N. Virginia'),
  awsRegion('us-west-2', 'Oregon'),
  awsRegion('eu-central-1', 'Frankfurt'),
  awsRegion('ap-southeast-1', 'Singapore'),
  awsRegion('ap-northeast-1', 'Tokyo', ['Starter']),
];
