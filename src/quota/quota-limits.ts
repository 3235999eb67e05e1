/** Injection token of the {@link QuotaLimits}. */
export const QUOTA_LIMITS = Symbol('QuotaLimits');

/** What the quota is, read in one place, so that a limit of a tenant's own needs no other change. */
export interface QuotaLimits {
  /** Whole seconds between two flushes. */
  readonly flushIntervalSeconds: number;
  /** Whether the quota is watched and not enforced. */
  readonly shadowed: boolean;
  /**
   * Calls per UTC day of this tenant, or of one without a limit of its own; asked on every call, so it only looks up.
   */
  readonly limitOf: (tenant: string | undefined) => number;
}
