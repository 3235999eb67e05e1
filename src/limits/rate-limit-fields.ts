import type { BucketRate } from './token-bucket.js';

/**
 * What a proven caller has left, at the two layers that are its own; undefined where one is watched and not enforced.
 */
export interface Allowance {
  readonly tenant: TenantAllowance | undefined;
  readonly quota: QuotaAllowance | undefined;
}

interface TenantAllowance {
  readonly tokens: number;
  readonly rate: BucketRate;
}

interface QuotaAllowance {
  readonly callsPerUtcDay: number;
  readonly remaining: number;
  readonly secondsToReset: number;
}

const DAY_SECONDS = 86_400;

/** The policy of nearly all callers, written once for them all. */
let lastPolicy = { rate: {} as BucketRate, callsPerUtcDay: -1, text: '' };

/**
 * The `RateLimit-Policy` and `RateLimit` fields (draft-ietf-httpapi-ratelimit-headers): quota `q` and window `w` in
 * seconds of each policy; what remains, `r`, and the seconds until it is whole again, `t`. Name and value in turn, as
 * the context's `answerHeaders` are; empty where there is nothing to promise.
 */
export function rateLimitFields({ tenant, quota }: Allowance): string[] {
  if (tenant !== undefined && quota !== undefined) {
    const policy = policyOf(tenant.rate, quota.callsPerUtcDay);
    return fields(policy, `${tenantState(tenant)}, ${quotaState(quota)}`);
  }
  if (tenant !== undefined) return fields(tenantPolicy(tenant.rate), tenantState(tenant));
  return quota === undefined ? [] : fields(quotaPolicy(quota.callsPerUtcDay), quotaState(quota));
}

function fields(policy: string, state: string): string[] {
  return ['ratelimit-policy', policy, 'ratelimit', state];
}

function tenantState({ tokens, rate }: TenantAllowance): string {
  return `"tenant";r=${tokens};t=${Math.ceil(((rate.burst - tokens) * rate.intervalMs) / 1000)}`;
}

function quotaState({ remaining, secondsToReset }: QuotaAllowance): string {
  return `"quota";r=${remaining};t=${secondsToReset}`;
}

function policyOf(rate: BucketRate, callsPerUtcDay: number): string {
  if (lastPolicy.rate !== rate || lastPolicy.callsPerUtcDay !== callsPerUtcDay) {
    const text = `${tenantPolicy(rate)}, ${quotaPolicy(callsPerUtcDay)}`;
    lastPolicy = { rate, callsPerUtcDay, text };
  }
  return lastPolicy.text;
}

function tenantPolicy({ burst, intervalMs }: BucketRate): string {
  return `"tenant";q=${burst};w=${Math.max(1, Math.ceil((burst * intervalMs) / 1000))}`;
}

function quotaPolicy(callsPerUtcDay: number): string {
  return `"quota";q=${callsPerUtcDay};w=${DAY_SECONDS}`;
}
