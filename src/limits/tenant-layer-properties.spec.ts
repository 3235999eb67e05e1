import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Identity } from '../request/credential.js';
import { TenantLayer } from './tenant-layer.js';
import { afterTaking, bucketRate, waitMs } from './token-bucket.js';

const MAX = 4;
const RATE = bucketRate(1, 3);
const identity = (fingerprint: string, tenant: string): Identity => ({
  kind: 'oauth',
  fingerprint,
  tenant,
  credential: { kind: 'oauth', token: fingerprint },
});
/** Three tokens of one subject, two of another, and two credentials that are tenants by themselves. */
const ALL = ['s1 s', 's2 s', 's3 s', 't1 t', 't2 t', 'a a', 'b b'].map((pair) =>
  identity(...(pair.split(' ') as [string, string])),
);

const act = fc.record({
  what: fc.constantFrom('join', 'join', 'leave', 'take', 'take', 'take'),
  who: fc.constantFrom(...ALL),
  waitMs: fc.constantFrom(0, 0, 0, 1, 999, 1000, 2500),
});

describe('The buckets of tenants whose tokens come and go', () => {
  it('are one for each tenant, never fuller than if no token had ever come or gone', () => {
    fc.assert(
      fc.property(fc.array(act, { maxLength: 80, size: 'max' }), (acts) => {
        const layer = new TenantLayer({ rate: RATE, maxProven: MAX, maxShared: 1 });
        const proven = new Set<Identity>();
        const fullAt = new Map<string, number>();
        let now = 0;
        for (const { what, who, waitMs: pause } of acts) {
          now += pause;
          if (what === 'join' && !proven.has(who) && proven.size < MAX) {
            layer.join(who, now);
            proven.add(who);
          }
          if (what === 'leave' && proven.has(who) && layer.waitForPlace(who, now) === 0) {
            layer.leave(who, now);
            proven.delete(who);
          }
          if (what === 'take' && proven.has(who) && layer.wait(who, now) === 0) {
            layer.take(who, now);
            fullAt.set(who.tenant, afterTaking(fullAt.get(who.tenant) ?? now, now, RATE));
          }
          for (const one of proven) {
            const due = fullAt.get(one.tenant) ?? now;
            expect(layer.wait(one, now)).toBe(waitMs(due, now, RATE));
            expect(layer.level(one, now).tokens).toBe(
              Math.floor(RATE.burst - Math.max(0, due - now) / RATE.intervalMs),
            );
            expect(layer.knowsSubject(one, now)).toBe(one.tenant !== one.fingerprint);
          }
        }
        const tenants = [...fullAt.values()].filter((ms) => ms > now).length;
        expect(layer.count(now)).toBe(tenants);
      }),
    );
  });
});
