import { describe, expect, it } from 'vitest';
import { rateLimitFields } from './rate-limit-fields.js';
import { bucketRate } from './token-bucket.js';

describe('The RateLimit fields', () => {
  it('say what remains of each policy and when it is whole again', () => {
    const quota = { callsPerUtcDay: 5000, remaining: 4988, secondsToReset: 3600 };
    expect(rateLimitFields({ tenant: { tokens: 17, rate: bucketRate(5, 20) }, quota })).toEqual([
      'ratelimit-policy',
      '"tenant";q=20;w=4, "quota";q=5000;w=86400',
      'ratelimit',
      '"tenant";r=17;t=1, "quota";r=4988;t=3600',
    ]);
  });

  it('never name a window of no time', () => {
    const quota = { callsPerUtcDay: 1, remaining: 0, secondsToReset: 1 };
    expect(rateLimitFields({ tenant: { tokens: 1, rate: bucketRate(1000, 1) }, quota })).toEqual([
      'ratelimit-policy',
      '"tenant";q=1;w=1, "quota";q=1;w=86400',
      'ratelimit',
      '"tenant";r=1;t=0, "quota";r=0;t=1',
    ]);
  });

  it('promise nothing of a layer that is only watched', () => {
    const tenant = { tokens: 1, rate: bucketRate(1, 1) };
    const quota = { callsPerUtcDay: 1, remaining: 0, secondsToReset: 1 };
    expect(rateLimitFields({ tenant, quota: undefined })[1]).toBe('"tenant";q=1;w=1');
    expect(rateLimitFields({ tenant: undefined, quota })[3]).toBe('"quota";r=0;t=1');
    expect(rateLimitFields({ tenant: undefined, quota: undefined })).toEqual([]);
  });
});
