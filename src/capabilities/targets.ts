import { z } from 'zod';
import type { LookContext } from '../confirm/destructive-operation.js';
import { getBackup, getBranch, getCluster, listBackups, listBranches } from '../tidb-cloud/endpoints.js';
import { toBranch, upstreamBranch } from './branch-shape.js';
import { toCluster, upstreamCluster, upstreamEndpoint } from './cluster-shape.js';
import { ageDays, counted, type Effects } from '../confirm/effects.js';
import { maybe, upstreamId, upstreamInteger, upstreamText } from './upstream-fields.js';

/** Names that are shown of what goes with a target. */
const SHOWN_NAMES = 20;
const PAGE_SIZE = 100;

const network = z.object({
  startIpAddress: maybe(upstreamText),
  endIpAddress: maybe(upstreamText),
  displayName: maybe(upstreamText),
});

const lookedCluster = upstreamCluster.extend({
  endpoints: maybe(
    z.object({
      public: maybe(upstreamEndpoint.extend({ authorizedNetworks: maybe(z.array(network)) })),
      private: maybe(upstreamEndpoint),
    }),
  ),
});

const lookedBackup = z.object({
  backupId: upstreamId,
  clusterId: maybe(upstreamId),
  createTime: maybe(upstreamText),
});

const branchList = z.object({
  branches: z.array(upstreamBranch).nullish(),
  nextPageToken: maybe(z.string()),
  totalSize: maybe(upstreamInteger),
});

const backupList = z.object({
  backups: z.array(lookedBackup).nullish(),
  nextPageToken: maybe(z.string()),
  totalSize: maybe(upstreamInteger),
});

/** A cluster as it is shown and compared. */
export type ClusterTarget = Awaited<ReturnType<typeof lookAtCluster>>;
/** A branch as it is shown and compared. */
export type BranchTarget = Awaited<ReturnType<typeof lookAtBranch>>;
/** A backup as it is shown and compared. */
export type BackupTarget = z.output<typeof lookedBackup>;

/** Several things that hang on a target. */
export interface Hanging {
  readonly count: number;
  /** Of at most the first hundred. */
  readonly ids: readonly string[];
  readonly names: readonly string[];
}

/** @throws AppError NOT_FOUND, and whatever else the question comes to; so do all looks */
export async function lookAtCluster(context: LookContext, clusterId: string) {
  const found = await context.ask(getCluster(clusterId), lookedCluster);
  return { ...toCluster(found), authorizedNetworks: found.endpoints?.public?.authorizedNetworks };
}

/** One branch. */
export async function lookAtBranch(context: LookContext, clusterId: string, branchId: string) {
  return toBranch(await context.ask(getBranch(clusterId, branchId), upstreamBranch));
}

/** One backup. */
export function lookAtBackup(context: LookContext, backupId: string): Promise<BackupTarget> {
  return context.ask(getBackup(backupId), lookedBackup);
}

/** TiDB Cloud's word for a branch that is being deleted: it goes by itself. */
const GOING = 'DELETED';

/** The branches of a cluster, and their parents; those that are being deleted already don't count. */
export async function lookAtBranches(context: LookContext, clusterId: string) {
  const { branches, totalSize } = await context.ask(listBranches(clusterId, { pageSize: PAGE_SIZE }), branchList);
  const found = branches ?? [];
  const staying = found.filter(({ state }) => state !== GOING);
  return { branches: staying.map(toBranch), count: (totalSize ?? found.length) - found.length + staying.length };
}

/** The branches of a cluster as what goes with it. */
export async function branchesOf(context: LookContext, clusterId: string): Promise<Hanging> {
  const { branches, count } = await lookAtBranches(context, clusterId);
  return {
    count,
    ids: branches.map(({ branchId }) => branchId),
    names: branches.map(({ branchId, displayName }) => displayName ?? branchId),
  };
}

/** The backups of a cluster as what goes with it. */
export async function backupsOf(context: LookContext, clusterId: string): Promise<Hanging> {
  const { backups, totalSize } = await context.ask(listBackups(clusterId, { pageSize: PAGE_SIZE }), backupList);
  const found = backups ?? [];
  return {
    count: totalSize ?? found.length,
    ids: found.map(({ backupId }) => backupId),
    names: found.map(({ backupId, createTime }) => createTime ?? backupId),
  };
}

/** What goes with a target, as the effects have it. */
export function shown({ count, names }: Hanging): { count: number; names: string[] } {
  return { count, names: names.slice(0, SHOWN_NAMES) };
}

type TargetEffect = NonNullable<Effects['target']>;

/** A cluster as the effects have it. */
export function clusterEffect(cluster: ClusterTarget, utcMs: number): TargetEffect {
  const { clusterId, displayName, plan, region, state, createTime } = cluster;
  const age = ageDays(createTime, utcMs);
  return { kind: 'cluster', id: clusterId, displayName, plan, region, state, createTime, ageDays: age };
}

/** A branch as the effects have it. */
export function branchEffect(branch: BranchTarget, cluster: ClusterTarget, utcMs: number): TargetEffect {
  const { branchId, displayName, state, createTime } = branch;
  const { clusterId, displayName: clusterDisplayName, plan, region } = cluster;
  const age = ageDays(createTime, utcMs);
  return {
    kind: 'branch',
    id: branchId,
    displayName,
    clusterId,
    clusterDisplayName,
    plan,
    region,
    state,
    createTime,
    ageDays: age,
  };
}

/** A cluster in words: its name, id, plan, region, state and age. */
export function clusterWords(cluster: ClusterTarget, utcMs: number): string {
  const { clusterId, displayName, plan, region, state, createTime } = cluster;
  return `the cluster ${named(displayName, clusterId)} (${details([plan, region, state, ageWords(createTime, utcMs)])})`;
}

/** A branch in words. */
export function branchWords(branch: BranchTarget, cluster: ClusterTarget, utcMs: number): string {
  const { branchId, displayName, state, createTime } = branch;
  const of = named(cluster.displayName, cluster.clusterId);
  return `the branch ${named(displayName, branchId)} of the cluster ${of} (${details([cluster.plan, cluster.region, state, ageWords(createTime, utcMs)])})`;
}

/** A name in quotes, with the id behind it. */
export function named(displayName: string | undefined, id: string): string {
  return displayName === undefined ? id : `${JSON.stringify(displayName)} [${id}]`;
}

function ageWords(createTime: string | undefined, utcMs: number): string | undefined {
  const days = ageDays(createTime, utcMs);
  return days === undefined ? undefined : `${counted(days, 'day', 'days')} old`;
}

function details(parts: (string | undefined)[]): string {
  return parts.filter((part) => part !== undefined).join(', ');
}
