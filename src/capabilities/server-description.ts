import type { CapabilitiesReport } from './capabilities-report.js';
import type { Caller } from './operation.js';

/** Says what the server is and which limits it enforces; one implementation for each transport. */
export interface ServerDescription {
  describe(caller: Caller): CapabilitiesReport;
}

/** Injection token of the {@link ServerDescription}. */
export const SERVER_DESCRIPTION = Symbol('ServerDescription');
