import type { Operation } from './operation.js';
import { capabilitiesOperation } from './operations/capabilities.operation.js';
import { confirmOperation } from './operations/confirm.operation.js';
import { getBranchOperation } from './operations/get-branch.operation.js';
import { getClusterOperation } from './operations/get-cluster.operation.js';
import { listBackupsOperation } from './operations/list-backups.operation.js';
import { listBranchesOperation } from './operations/list-branches.operation.js';
import { listClustersOperation } from './operations/list-clusters.operation.js';
import { listProjectsOperation } from './operations/list-projects.operation.js';
import { listRegionsOperation } from './operations/list-regions.operation.js';
import { preflightOperation } from './operations/preflight.operation.js';

/** Everything this server does, in the order in which every surface shows it; the order never changes between calls. */
export const OPERATIONS: readonly Operation[] = [
  capabilitiesOperation,
  listProjectsOperation,
  listRegionsOperation,
  listClustersOperation,
  getClusterOperation,
  listBranchesOperation,
  getBranchOperation,
  listBackupsOperation,
  preflightOperation,
  confirmOperation,
];
