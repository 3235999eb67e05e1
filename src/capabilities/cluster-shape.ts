import { z } from 'zod';
import { maybe, upstreamId, upstreamInteger, upstreamText } from './upstream-fields.js';

/** The label in which TiDB Cloud keeps a cluster's project. */
const PROJECT_LABEL = 'tidb.cloud/project';

const summaryFields = {
  clusterId: z.string(),
  displayName: z.string().optional(),
  state: z.string().optional().describe('Such as ACTIVE, CREATING, RESTORING, DELETING.'),
  plan: z.string().optional().describe('STARTER or ESSENTIAL.'),
  region: z.string().optional().describe('The full name of the region, such as regions/aws-us-west-2.'),
  cloudProvider: z.string().optional(),
  projectId: z.string().optional(),
  version: z.string().optional().describe('The version of TiDB.'),
  createTime: z.string().optional(),
};

/** What a list says of a cluster. */
export const clusterSummary = z.object(summaryFields).meta({ title: 'ClusterSummary' });

/** A network endpoint for SQL clients; a branch has its own. */
export const endpoint = z
  .object({
    host: z.string().optional(),
    port: z.number().int().optional(),
    disabled: z.boolean().optional(),
  })
  .meta({ title: 'Endpoint' });

/** Everything that a model needs of one cluster. */
export const cluster = z
  .object({
    ...summaryFields,
    updateTime: z.string().optional(),
    publicEndpoint: endpoint.optional(),
    privateEndpoint: endpoint.optional(),
    userPrefix: z.string().optional().describe('Every SQL user name on this cluster begins with it and a dot.'),
    highAvailability: z.string().optional().describe('ZONAL or REGIONAL.'),
    spendingLimitMonthlyCents: z.number().int().optional().describe('The most it may cost in a month, in US cents.'),
    minRcu: z.number().int().optional().describe('The least request capacity units that auto-scaling keeps.'),
    maxRcu: z.number().int().optional().describe('The most request capacity units that auto-scaling takes.'),
    backupStartTime: z.string().optional().describe('When the daily backup starts, HH:mm in UTC.'),
    backupRetentionDays: z.number().int().optional(),
    labels: z.record(z.string(), z.string()).optional(),
  })
  .meta({ title: 'Cluster' });

/** An endpoint as TiDB Cloud answers it. */
export const upstreamEndpoint = z.object({
  host: maybe(upstreamText),
  port: maybe(upstreamInteger),
  disabled: maybe(z.boolean()),
});

/** Endpoints as TiDB Cloud answers them, of clusters and branches alike. */
export const upstreamEndpoints = z.object({ public: maybe(upstreamEndpoint), private: maybe(upstreamEndpoint) });

/** A cluster as TiDB Cloud answers it, as far as it is passed on: its creator's e-mail address is not. */
export const upstreamCluster = z.object({
  clusterId: upstreamId,
  displayName: maybe(upstreamText),
  state: maybe(upstreamText),
  clusterPlan: maybe(upstreamText),
  region: maybe(
    z.object({ name: maybe(upstreamText), cloudProvider: maybe(upstreamText), provider: maybe(upstreamText) }),
  ),
  version: maybe(upstreamText),
  createTime: maybe(upstreamText),
  updateTime: maybe(upstreamText),
  endpoints: maybe(upstreamEndpoints),
  userPrefix: maybe(upstreamText),
  highAvailabilityType: maybe(upstreamText),
  spendingLimit: maybe(z.object({ monthly: maybe(upstreamInteger) })),
  autoScaling: maybe(z.object({ minRcu: maybe(upstreamInteger), maxRcu: maybe(upstreamInteger) })),
  automatedBackupPolicy: maybe(z.object({ startTime: maybe(upstreamText), retentionDays: maybe(upstreamInteger) })),
  labels: maybe(z.record(upstreamText, upstreamText)),
});

type UpstreamCluster = z.output<typeof upstreamCluster>;

/** What a list says of a cluster that TiDB Cloud answered. */
export function toClusterSummary(found: UpstreamCluster): z.output<typeof clusterSummary> {
  return {
    clusterId: found.clusterId,
    displayName: found.displayName,
    state: found.state,
    plan: found.clusterPlan,
    region: found.region?.name,
    cloudProvider: found.region?.cloudProvider ?? found.region?.provider,
    projectId: found.labels?.[PROJECT_LABEL],
    version: found.version,
    createTime: found.createTime,
  };
}

/** What a model needs of a cluster that TiDB Cloud answered. */
export function toCluster(found: UpstreamCluster): z.output<typeof cluster> {
  return {
    ...toClusterSummary(found),
    updateTime: found.updateTime,
    publicEndpoint: found.endpoints?.public,
    privateEndpoint: found.endpoints?.private,
    userPrefix: found.userPrefix,
    highAvailability: found.highAvailabilityType,
    spendingLimitMonthlyCents: found.spendingLimit?.monthly,
    minRcu: found.autoScaling?.minRcu,
    maxRcu: found.autoScaling?.maxRcu,
    backupStartTime: found.automatedBackupPolicy?.startTime,
    backupRetentionDays: found.automatedBackupPolicy?.retentionDays,
    labels: found.labels,
  };
}
