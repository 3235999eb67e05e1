import { z } from 'zod';
import { toBranch, upstreamBranch } from './branch-shape.js';
import { toCluster, upstreamCluster } from './cluster-shape.js';
import { maybe, upstreamId } from './upstream-fields.js';

const lookWith = z
  .object({ tool: z.string(), arguments: z.record(z.string(), z.string()) })
  .describe('Only where the outcome is unknown: the tool to look with, and its arguments.');

/** What every result may have beside what TiDB Cloud answered. */
const told = {
  reason: z
    .string()
    .optional()
    .describe('Only where TiDB Cloud refused: forbidden, not_found, invalid, conflict or rejected.'),
  message: z.string().optional().describe('Where it was not done: what that means and what to do.'),
  lookWith: lookWith.optional(),
};

const ofCluster = {
  clusterId: z.string().optional(),
  displayName: z.string().optional(),
  state: z.string().optional().describe('Such as CREATING, RESTORING, DELETING: ask for it until it is another.'),
  plan: z.string().optional(),
  region: z.string().optional(),
};
const ofBranch = {
  branchId: z.string().optional(),
  clusterId: z.string().optional(),
  displayName: z.string().optional(),
  state: z.string().optional(),
};
const ofBackup = { backupId: z.string().optional(), clusterId: z.string().optional() };

/** The result of a confirm, by what the operation is about. */
export const changedShapes = {
  cluster: z.object({ ...ofCluster, ...told }).meta({ title: 'ChangedCluster' }),
  branch: z.object({ ...ofBranch, ...told }).meta({ title: 'ChangedBranch' }),
  backup: z.object({ ...ofBackup, ...told }).meta({ title: 'ChangedBackup' }),
};

/** The result of a confirm of any operation. */
export const changed = z
  .object({ ...ofCluster, ...ofBranch, ...ofBackup, ...told })
  .describe('What TiDB Cloud answered: ids, and the state that long work begins with.');

/**
 * What is told of a changed cluster; creating, changing, deleting and restoring answer it alike, restoring its id
 * alone.
 */
export function changedCluster(answer: unknown, args: object): Record<string, unknown> {
  const found = upstreamCluster.safeParse(answer);
  if (!found.success) return idsOf(args);
  const { clusterId, displayName, state, plan, region } = toCluster(found.data);
  return { clusterId, displayName, state, plan, region };
}

/** What is told of a changed branch. */
export function changedBranch(answer: unknown, args: object): Record<string, unknown> {
  const found = upstreamBranch.safeParse(answer);
  if (!found.success) return idsOf(args);
  const { branchId, clusterId, displayName, state } = toBranch(found.data);
  return { branchId, clusterId, displayName, state };
}

/** What is told of a deleted backup. */
export function changedBackup(answer: unknown, args: object): Record<string, unknown> {
  const found = z.object({ backupId: upstreamId, clusterId: maybe(upstreamId) }).safeParse(answer);
  return found.success ? found.data : idsOf(args);
}

/** Where the answer says nothing, the ids that were asked with still name what was changed. */
function idsOf(args: object): Record<string, unknown> {
  const ids = Object.entries(args).filter(([name]) => ['clusterId', 'branchId', 'backupId'].includes(name));
  return Object.fromEntries(ids);
}
