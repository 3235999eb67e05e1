/** Hex digits of a tenant's name, which is a SHA-256. */
export const TENANT_DIGITS = 64;

/**
 * How many of them leave the process: enough to tell tenants apart, not enough to test a guess against. Contract:
 * "Telemetry events".
 */
export const SHOWN_TENANT_DIGITS = 12;

/** A tenant's name as it is shown and written. */
export function shownTenant(tenant: string): string {
  return tenant.slice(0, SHOWN_TENANT_DIGITS);
}
