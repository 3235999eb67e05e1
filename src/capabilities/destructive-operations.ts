import type { DestructiveOperation } from '../confirm/destructive-operation.js';
import { createBranchOperation } from './operations/create-branch.operation.js';
import { createClusterOperation } from './operations/create-cluster.operation.js';
import { deleteBackupOperation } from './operations/delete-backup.operation.js';
import { deleteBranchOperation } from './operations/delete-branch.operation.js';
import { deleteClusterOperation } from './operations/delete-cluster.operation.js';
import { resetBranchOperation } from './operations/reset-branch.operation.js';
import { restoreClusterOperation } from './operations/restore-cluster.operation.js';
import { updateClusterOperation } from './operations/update-cluster.operation.js';

/** Everything that this server can change, in the order in which every surface shows it. */
export const DESTRUCTIVE_OPERATIONS: readonly DestructiveOperation[] = [
  createClusterOperation,
  updateClusterOperation,
  deleteClusterOperation,
  createBranchOperation,
  resetBranchOperation,
  deleteBranchOperation,
  restoreClusterOperation,
  deleteBackupOperation,
];

const BY_NAME: ReadonlyMap<string, DestructiveOperation> = new Map(
  DESTRUCTIVE_OPERATIONS.map((operation) => [operation.name, operation]),
);

/** The operation of a name, if there is one. */
export function destructiveOperation(name: string): DestructiveOperation | undefined {
  return BY_NAME.get(name);
}
