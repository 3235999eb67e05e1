import type { BucketRate } from './token-bucket.js';

/** What a proven caller has left, at the two layers that are its own. */
export interface Allowance {
  readonly tenant: { readonly tokens: number; readonly rate: BucketRate };
  readonly quota: { readonly callsPerUtcDay: number; readonly remaining: number; readonly secondsToReset: number };
}

const DAY_SECONDS = 86_400;

/**
 * The `RateLimit-Policy` and `RateLimit` fields (draft-ietf-httpapi-ratelimit-headers): quota `q` and window `w` in
 * seconds of each policy; what remains, `r`, and the seconds until it is whole again, `t`.
 */
export function rateLimitFields({ tenant, quota }: Allowance): { policy: string; state: string } {
  const { burst, intervalMs } = tenant.rate;
  const windowSeconds = Math.max(1, Math.ceil((burst * intervalMs) / 1000));
  const fullInSeconds = Math.ceil(((burst - tenant.tokens) * intervalMs) / 1000);
  return {
    policy: `"tenant";q=${burst};w=${windowSeconds}, "quota";q=${quota.callsPerUtcDay};w=${DAY_SECONDS}`,
    state: `"tenant";r=${tenant.tokens};t=${fullInSeconds}, "quota";r=${quota.remaining};t=${quota.secondsToReset}`,
  };
}
