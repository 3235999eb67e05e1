import type { BucketRate } from './token-bucket.js';

/** What a proven caller has left, at the two layers that are its own. */
export interface Allowance {
  readonly tenant: { readonly tokens: number; readonly rate: BucketRate };
  readonly quota: { readonly callsPerUtcDay: number; readonly remaining: number; readonly secondsToReset: number };
}

const DAY_SECONDS = 86_400;

/** The policy of nearly all callers, written once for them all. */
let lastPolicy = { rate: {} as BucketRate, callsPerUtcDay: -1, text: '' };

/**
 * The `RateLimit-Policy` and `RateLimit` fields (draft-ietf-httpapi-ratelimit-headers): quota `q` and window `w` in
 * seconds of each policy; what remains, `r`, and the seconds until it is whole again, `t`.
 */
export function rateLimitFields({ tenant, quota }: Allowance): { policy: string; state: string } {
  const { burst, intervalMs } = tenant.rate;
  const fullInSeconds = Math.ceil(((burst - tenant.tokens) * intervalMs) / 1000);
  return {
    policy: policyOf(tenant.rate, quota.callsPerUtcDay),
    state: `"tenant";r=${tenant.tokens};t=${fullInSeconds}, "quota";r=${quota.remaining};t=${quota.secondsToReset}`,
  };
}

function policyOf(rate: BucketRate, callsPerUtcDay: number): string {
  if (lastPolicy.rate !== rate || lastPolicy.callsPerUtcDay !== callsPerUtcDay) {
    const windowSeconds = Math.max(1, Math.ceil((rate.burst * rate.intervalMs) / 1000));
    const text = `"tenant";q=${rate.burst};w=${windowSeconds}, "quota";q=${callsPerUtcDay};w=${DAY_SECONDS}`;
    lastPolicy = { rate, callsPerUtcDay, text };
  }
  return lastPolicy.text;
}
