/** What one tenant has instead of the server's limits; undefined: as everybody. */
export interface TenantLimit {
  readonly requestsPerSecond: number | undefined;
  readonly burst: number | undefined;
  readonly callsPerUtcDay: number | undefined;
}

/** A {@link TenantLimit} and whose it is. */
export interface NamedTenantLimit extends TenantLimit {
  readonly fingerprint: string;
}

/** Tenants with limits of their own that are held; more of them are not read. */
export const MAX_TENANT_LIMITS = 10_000;

/**
 * The tenants' own limits as last read, for the hot path: nobody here waits for anything. An identity under a shared
 * token has its token's limits, each address for itself.
 */
export class TenantLimits {
  private byFingerprint: ReadonlyMap<string, TenantLimit> = new Map();
  /** Identities under shared tokens, to their token's fingerprint; as many as are proven. */
  private readonly tokens = new Map<string, string>();

  /** The limits of a tenant's own, or undefined where it has none. */
  of(fingerprint: string): TenantLimit | undefined {
    if (this.byFingerprint.size === 0) return undefined;
    return this.byFingerprint.get(fingerprint) ?? this.ofToken(fingerprint);
  }

  /** Takes what was read in place of what was known; a limit that stays the same stays the same object. */
  replace(limits: readonly NamedTenantLimit[]): void {
    const next = new Map<string, TenantLimit>();
    for (const { fingerprint, ...limit } of limits.slice(0, MAX_TENANT_LIMITS)) {
      const known = this.byFingerprint.get(fingerprint);
      next.set(fingerprint, known !== undefined && isSame(known, limit) ? known : limit);
    }
    this.byFingerprint = next;
  }

  /** An identity under a shared token was proven. */
  join(fingerprint: string, tokenFingerprint: string): void {
    this.tokens.set(fingerprint, tokenFingerprint);
  }

  /** An identity's proof is gone. */
  leave(fingerprint: string): void {
    this.tokens.delete(fingerprint);
  }

  private ofToken(fingerprint: string): TenantLimit | undefined {
    const token = this.tokens.get(fingerprint);
    return token === undefined ? undefined : this.byFingerprint.get(token);
  }
}

function isSame(a: TenantLimit, b: TenantLimit): boolean {
  return a.requestsPerSecond === b.requestsPerSecond && a.burst === b.burst && a.callsPerUtcDay === b.callsPerUtcDay;
}
