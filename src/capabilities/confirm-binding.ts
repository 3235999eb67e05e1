import { hash } from 'node:crypto';
import { isShared } from '../auth/identify.js';
import type { Identity } from '../request/credential.js';

/**
 * What a confirmation is bound to: the tenant, so that a refreshed OAuth token may confirm; or for a shared token the
 * token without the address, since a gateway may send preflight and confirm from two addresses. Contract: "Preflight
 * and confirm".
 * @param sharedTokens the configured ones, in the order in which identities number them
 */
export function confirmBinding(identity: Identity, sharedTokens: readonly string[]): string {
  if (!isShared(identity)) return identity.tenant;
  const token = sharedTokens[identity.token];
  if (token === undefined) throw new Error('A shared identity names a token that is not configured.');
  return hash('sha256', `shared-token\n${token}`, 'hex');
}
