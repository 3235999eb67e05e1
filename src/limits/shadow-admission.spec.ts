import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Identity } from '../request/credential.js';
import type { ClientAddress, Limit, RequestContext } from '../request/request-context.js';
import { Admission, type AdmissionPorts, type DailyQuota, type Layers } from './admission.js';
import { GlobalLayer } from './global-layer.js';
import { PreauthLayer } from './preauth-layer.js';
import { ShadowAdmission } from './shadow-admission.js';
import { TenantLayer } from './tenant-layer.js';
import { bucketRate } from './token-bucket.js';

const OWN = bucketRate(1, 5);
const LARGER = bucketRate(50, 100);
const TENANT = bucketRate(5, 20);

const unlimited: DailyQuota = {
  tryCount: () => 7,
  uncount: () => undefined,
  isExhausted: () => false,
  secondsToReset: () => 3600,
};

/** An admission with its own clock; `shadow` empty is the enforced one. */
class World {
  nowMs = 1000;
  readonly refused: Limit[] = [];
  readonly wouldRefuse: Limit[] = [];
  readonly layers: Layers;
  readonly admission: Admission;

  constructor(shadow: readonly Limit[], globalBurst = 1000) {
    const preauth = (address: typeof OWN) => new PreauthLayer({ address, gateway: LARGER, maxKeys: 100, secret: 's' });
    const isWatched = shadow.includes('preauth');
    this.layers = {
      preauth: preauth(isWatched ? LARGER : OWN),
      tenant: new TenantLayer({ rate: TENANT, maxProven: 10, maxShared: 10 }),
      quota: unlimited,
      global: new GlobalLayer(bucketRate(100, globalBurst), 1),
    };
    const ports: AdmissionPorts = {
      monotonicMs: () => this.nowMs,
      isProven: ({ fingerprint }) => fingerprint === 'tenant',
      refused: (_, { limit }) => void this.refused.push(limit),
      overflowed: () => undefined,
    };
    const watchedPreauth = isWatched ? preauth(OWN) : undefined;
    const wouldRefuse = (limit: Limit) => void this.wouldRefuse.push(limit);
    this.admission =
      shadow.length === 0
        ? new Admission(this.layers, ports)
        : new ShadowAdmission(this.layers, ports, { limits: new Set(shadow), watchedPreauth, wouldRefuse });
  }

  /** Sends so many requests at this moment; answers how many passed. */
  send(times: number, proven: boolean, gateway?: string): number {
    const contexts = Array.from({ length: times }, () => contextOf(proven, gateway));
    return contexts.filter((context) => this.admission.passAll(context) === undefined).length;
  }
}

function contextOf(proven: boolean, gateway?: string): RequestContext {
  const client: ClientAddress = { address: '1.2.3.4', key: '1.2.3.4', network: '1.2.3', source: 'socket', gateway };
  const fingerprint = proven ? 'tenant' : 'fake';
  const credential = { kind: 'api-key', publicKey: fingerprint, privateKey: 'x' } as const;
  const identity: Identity = { kind: 'api-key', fingerprint, tenant: fingerprint, credential };
  const taken = { preauth: -1, tenant: -1, quota: -1, global: -1 };
  const made = { surface: 'v1', modern: false, client, identity, call: true, stage: 'new', taken };
  return { ...made, signal: new AbortController().signal } as unknown as RequestContext;
}

describe('A layer in shadow mode', () => {
  it('lets everything of a tenant through, and counts what it would have refused', () => {
    const world = new World(['tenant']);
    expect(world.send(25, true)).toBe(25);
    expect(world.wouldRefuse).toEqual(Array.from({ length: 5 }, () => 'tenant'));
    expect(world.refused).toEqual([]);
    world.nowMs += 1000;
    expect(world.send(6, true)).toBe(6);
    expect(world.wouldRefuse).toHaveLength(6);
  });

  it('goes on to the next layer, which refuses as ever, and the refusal costs nothing', () => {
    const world = new World(['tenant'], 10);
    expect(world.send(12, true)).toBe(10);
    expect(world.refused).toEqual(['global', 'global']);
    expect(world.layers.tenant.level(contextOf(true).identity!, world.nowMs).tokens).toBe(10);
  });

  it('counts once what it would have refused where the look-ahead finds a later layer that does', () => {
    const world = new World(['tenant'], 20);
    expect(world.send(20, true)).toBe(20);
    const context = contextOf(true);
    for (let i = 0; i < 2; i += 1) expect(world.admission.lookAhead(context)?.limit).toBe('global');
    expect(world.admission.passAll(context)?.limit).toBe('global');
    expect([world.refused, world.wouldRefuse]).toEqual([['global'], ['tenant']]);
    expect(world.admission.lookAhead(contextOf(false))?.limit).toBe('global');
    expect(world.wouldRefuse).toEqual(['tenant']);
  });

  it('refuses nothing globally either', () => {
    const world = new World(['global'], 10);
    expect(world.send(12, true)).toBe(12);
    expect(world.wouldRefuse).toEqual(['global', 'global']);
  });

  it('of pre-auth gives an address the budget of a gateway, and refuses past that as ever', () => {
    const world = new World(['preauth']);
    expect(world.send(120, false)).toBe(100);
    expect(world.wouldRefuse).toHaveLength(95);
    expect(new Set(world.refused)).toEqual(new Set(['preauth']));
    world.nowMs += 1000;
    expect(world.send(60, false)).toBe(50);
    expect(world.wouldRefuse).toHaveLength(95 + 49);
  });

  it('changes nothing for a listed gateway, nor for whoever is proven', () => {
    const world = new World(['preauth']);
    expect(world.send(120, false, '1.2.3.0/24')).toBe(100);
    expect(world.send(25, true)).toBe(20);
    expect(world.wouldRefuse).toEqual([]);
  });

  it('gives back what its watched pre-auth bucket took from a request that another layer refuses', () => {
    const world = new World(['preauth'], 2);
    expect(world.send(20, false)).toBe(2);
    world.nowMs += 20;
    expect(world.send(2, false)).toBe(2);
    expect(world.wouldRefuse).toEqual([]);
  });

  const traffic = (most: number) =>
    fc.array(fc.record({ afterMs: fc.nat(600), times: fc.integer({ min: 1, max: most }) }), { maxLength: 12 });

  it.each([
    ['tenant', true],
    ['preauth', false],
  ] as const)('counts at %s just what it would have refused if it were enforced', (limit, proven) => {
    fc.assert(
      fc.property(traffic(8), (bursts) => {
        const watched = new World([limit]);
        const enforced = new World([]);
        for (const { afterMs, times } of bursts) {
          for (const world of [watched, enforced]) {
            world.nowMs += afterMs;
            world.send(times, proven);
          }
        }
        expect(watched.refused).toEqual([]);
        expect(watched.wouldRefuse).toEqual(enforced.refused);
      }),
    );
  });

  it('foresees what it does, and refuses nowhere but at enforced layers and past the larger budget', () => {
    const shadows = fc.subarray(['preauth', 'tenant', 'global'] as Limit[], { minLength: 1 });
    fc.assert(
      fc.property(
        shadows,
        traffic(60),
        fc.integer({ min: 5, max: 60 }),
        fc.boolean(),
        (shadow, bursts, burst, proven) => {
          const world = new World(shadow, burst);
          for (const { afterMs, times } of bursts) {
            world.nowMs += afterMs;
            for (let i = 0; i < times; i += 1) {
              const foreseen = world.admission.lookAhead(contextOf(proven));
              const refusal = world.admission.passAll(contextOf(proven));
              expect(foreseen).toEqual(refusal);
              if (refusal !== undefined && refusal.limit !== 'preauth') expect(shadow).not.toContain(refusal.limit);
            }
          }
        },
      ),
    );
  });
});
