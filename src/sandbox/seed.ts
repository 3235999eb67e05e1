import { createHash } from 'node:crypto';
import type { Clock } from '../clock/clock.js';
import { buildBranch } from './branch-operations.js';
import { buildCluster } from './cluster-operations.js';
import { Organization, type Durations } from './organization.js';
import { REGIONS, type Cluster } from './resources.js';

const DAY_MS = 86_400_000;
const PEOPLE = ['mei.tanaka@sandbox.example', 'luca.ferrari@sandbox.example', 'amara.okafor@sandbox.example'];
const NAMES = (
  'orders-prod orders-staging payments-prod payments-staging catalog-prod catalog-dev search-index sessions-prod ' +
  'billing-ledger crm-sync warehouse-eu warehouse-us ml-features audit-trail mobile-backend web-backend ' +
  'notifications reporting inventory pricing-engine fraud-signals partner-api docs-demo hackathon sandbox-tests'
).split(' ');
const BRANCHES = (
  'dev staging feature-checkout feature-coupons bugfix-totals migration-dry-run load-test qa-nightly ' +
  'release-candidate analytics demo schema-review'
).split(' ');
const BACKUP_DAYS = 14;

/**
 * An organization with two projects, twenty-five clusters, a dozen branches and two weeks of backups, the same in every
 * run but for its dates. The last cluster is still being created.
 */
export function seedOrganization(id: string, clock: Clock, durations: Durations): Organization {
  const organization = new Organization(id, clock, durations);
  const projects = ['production', 'development'].map((name, index) => ({
    id: organization.newId(),
    name,
    userCount: 3 + index * 4,
    createTimestamp: String(Math.floor((clock.utcMs() - (400 - index) * DAY_MS) / 1000)),
  }));
  organization.projects.push(...projects);
  const clusters = NAMES.map((displayName, index) => seedCluster(organization, displayName, index));
  seedBranches(organization, clusters[0], BRANCHES);
  seedBranches(organization, clusters[2], BRANCHES.slice(0, 2));
  for (const cluster of clusters.slice(0, 3)) seedBackups(organization, cluster);
  return organization;
}

/** A numeric organization id, made from a key's public half. */
export function organizationIdOf(publicKey: string): string {
  return `13${createHash('sha256').update(publicKey).digest().readUInt32BE().toString().padStart(10, '0')}`;
}

function seedCluster(organization: Organization, displayName: string, index: number): Cluster {
  const creating = index === NAMES.length - 1;
  const essential = index % 3 === 0;
  const production = displayName.endsWith('-prod') || index % 2 === 0;
  const createdMs = organization.clock.utcMs() - (creating ? 0 : (NAMES.length - index) * 9 * DAY_MS);
  const cluster = buildCluster(
    organization,
    {
      displayName,
      region: { name: REGIONS[index % REGIONS.length]?.name ?? '' },
      spendingLimit: { monthly: essential ? 0 : (index % 4) * 1000 },
      highAvailabilityType: essential ? 'REGIONAL' : 'ZONAL',
      labels: {
        'tidb.cloud/project': organization.projects[production ? 0 : 1]?.id ?? '',
        environment: production ? 'production' : 'development',
      },
      rootPassword: 'not-kept-anywhere',
      ...(essential ? { autoScaling: { minRcu: 2000, maxRcu: 2000 * (2 + index) } } : {}),
    },
    {
      createdBy: PEOPLE[index % PEOPLE.length] ?? '',
      createTime: new Date(createdMs).toISOString(),
      state: creating ? 'CREATING' : 'ACTIVE',
    },
  );
  const due = { afterMs: organization.durations.provisioningMs, to: 'ACTIVE' as const };
  organization.clusters.add(cluster.clusterId, cluster, creating ? due : undefined);
  return cluster;
}

function seedBranches(organization: Organization, cluster: Cluster | undefined, names: readonly string[]): void {
  if (cluster === undefined) return;
  names.forEach((displayName, index) => {
    const createTime = new Date(organization.clock.utcMs() - (names.length - index) * DAY_MS).toISOString();
    const createdBy = PEOPLE[index % PEOPLE.length] ?? '';
    const branch = buildBranch(organization, cluster, { displayName }, { createdBy, createTime, state: 'ACTIVE' });
    organization.branches.add(branch.branchId, branch);
  });
}

function seedBackups(organization: Organization, cluster: Cluster): void {
  const midnightMs = Math.floor(organization.clock.utcMs() / DAY_MS) * DAY_MS;
  for (let day = 1; day <= BACKUP_DAYS; day += 1) {
    const backupId = organization.newId();
    const createTime = new Date(midnightMs - day * DAY_MS + 7 * 3_600_000).toISOString();
    const backup = { name: `backups/${backupId}`, backupId, clusterId: cluster.clusterId, createTime };
    organization.backups.set(backupId, backup);
  }
}
