import { describe, expect, it } from 'vitest';
import { type NamedTenantLimit, TenantLimits } from './tenant-limits.js';

const limit = (fingerprint: string, callsPerUtcDay?: number): NamedTenantLimit => ({
  fingerprint,
  requestsPerSecond: undefined,
  burst: undefined,
  callsPerUtcDay,
});

describe('The limits of a tenant’s own', () => {
  it('are those that were read last, and none of who is no longer listed', () => {
    const limits = new TenantLimits();
    limits.replace([limit('a', 7), limit('b', 8)]);
    limits.replace([limit('b', 9)]);
    expect([limits.of('a'), limits.of('b')?.callsPerUtcDay]).toEqual([undefined, 9]);
  });

  it('stay one object while they stay the same, so that what is derived from them can be kept', () => {
    const limits = new TenantLimits();
    limits.replace([limit('a', 7)]);
    const before = limits.of('a');
    limits.replace([limit('a', 7)]);
    expect(limits.of('a')).toBe(before);
    limits.replace([limit('a', 8)]);
    expect(limits.of('a')).not.toBe(before);
  });

  it('of a shared token are those of each of its addresses, while they are proven', () => {
    const limits = new TenantLimits();
    limits.replace([limit('token', 7)]);
    limits.join('token at 1.1.1.1', 'token');
    expect(limits.of('token at 1.1.1.1')?.callsPerUtcDay).toBe(7);
    limits.leave('token at 1.1.1.1');
    expect(limits.of('token at 1.1.1.1')).toBeUndefined();
  });
});
