import type { TenantContext } from '../request/credential.js';
import type { CapabilitiesReport } from './capabilities-report.js';

/** Says what the server is and which limits it enforces; one implementation for each transport. */
export interface ServerDescription {
  describe(tenant: TenantContext): CapabilitiesReport;
}

/** Injection token of the {@link ServerDescription}. */
export const SERVER_DESCRIPTION = Symbol('ServerDescription');
