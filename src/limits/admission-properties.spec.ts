import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Identity } from '../request/credential.js';
import type { ClientAddress, Limit, Refusal, RequestContext } from '../request/request-context.js';
import { Admission, type DailyQuota } from './admission.js';
import { GlobalLayer } from './global-layer.js';
import { PreauthLayer } from './preauth-layer.js';
import { TenantLayer } from './tenant-layer.js';
import { bucketRate } from './token-bucket.js';

const PREAUTH = { rate: 0.6, burst: 3 };
const TENANT = { rate: 0.7, burst: 5 };
const GLOBAL = { rate: 20, burst: 8 };
const SHARE = 0.5;
const QUOTA = 6;
const TENANTS = ['a', 'b', 'c'];
const OVERFLOW_BUCKETS = 256;

/** One request of a history: who, and how long after the one before. */
interface Step {
  readonly afterMs: number;
  /** A proven tenant, or an address without a proven credential. */
  readonly tenant: string | undefined;
  readonly address: number;
  readonly call: boolean;
}

/** A server's layers with a clock of their own. */
class World {
  now = 1000;
  private readonly used = new Map<string, number>();
  private readonly preauth: PreauthLayer;
  private readonly admission: Admission;

  constructor(maxKeys: number) {
    const quota: DailyQuota = {
      tryCount: (tenant) => (quota.isExhausted(tenant) ? -1 : (this.count(tenant, 1), 7)),
      uncount: (tenant) => this.count(tenant, -1),
      isExhausted: (tenant) => (this.used.get(tenant) ?? 0) >= QUOTA,
      secondsToReset: () => 3600,
    };
    this.preauth = new PreauthLayer({
      address: bucketRate(PREAUTH.rate, PREAUTH.burst),
      gateway: bucketRate(PREAUTH.rate, PREAUTH.burst),
      maxKeys,
      secret: 's',
    });
    const layers = {
      preauth: this.preauth,
      tenant: new TenantLayer({ rate: bucketRate(TENANT.rate, TENANT.burst), maxProven: 10, maxShared: 1 }),
      quota,
      global: new GlobalLayer(bucketRate(GLOBAL.rate, GLOBAL.burst), SHARE),
    };
    this.admission = new Admission(layers, {
      monotonicMs: () => this.now,
      isProven: ({ fingerprint }) => TENANTS.includes(fingerprint),
      refused: () => undefined,
      overflowed: () => undefined,
    });
  }

  /** What becomes of a request now. */
  ask(step: Step): Refusal | undefined {
    return this.admission.passAll(contextOf(step));
  }

  /** What would become of it, without charging anything. */
  foresee(step: Step): Refusal | undefined {
    return this.admission.lookAhead(contextOf(step));
  }

  bucketsHeld(): number {
    return this.preauth.count(this.now);
  }

  private count(tenant: string, calls: number): void {
    this.used.set(tenant, (this.used.get(tenant) ?? 0) + calls);
    if (this.used.get(tenant)! < 0) throw new Error('A call was given back twice.');
  }
}

function contextOf({ tenant, address, call }: Step): RequestContext {
  const key = `10.0.0.${address}`;
  const client: ClientAddress = {
    address: key,
    key,
    network: `10.0.0.${address % 2}`,
    source: 'socket',
    gateway: undefined,
  };
  const credential = { kind: 'api-key', publicKey: tenant ?? 'fake', privateKey: 'x' } as const;
  const fingerprint = tenant ?? `fake-${address}`;
  const identity: Identity = { kind: 'api-key', fingerprint, tenant: fingerprint, credential };
  const taken = { preauth: -1, tenant: -1, quota: -1, global: -1 };
  const made = { surface: 'v1', modern: false, client, identity, call, proven: undefined, stage: 'new', taken };
  return { ...made, refusal: undefined, tenant: undefined, signal: new AbortController().signal } as RequestContext;
}

/** A request; a tenant's as often as `tenants` to one, or an unproven one's. */
const stepOf = (tenants: number): fc.Arbitrary<Step> =>
  fc.record({
    afterMs: fc.oneof(
      { weight: 8, arbitrary: fc.constant(0) },
      fc.double({ min: 0, max: 400, noNaN: true }),
      fc.constantFrom(1, 250, 500, 1000, 5000),
    ),
    tenant: fc.option(fc.constantFrom(...TENANTS), { nil: undefined, freq: tenants }),
    address: fc.nat(9),
    call: fc.boolean(),
  });
const historyOf = (tenants: number) => fc.array(stepOf(tenants), { minLength: 1, maxLength: 80, size: 'max' });
const step = stepOf(1);
/** Some of mostly tenants, some of mostly strangers: each meets other layers. */
const history = fc.oneof(historyOf(1), historyOf(20));
const ceiling = fc.integer({ min: 1, max: 12 });

/** A history as it happened: each request with its moment and what became of it. */
function happened(world: World, steps: readonly Step[]): { step: Step; at: number; refusal: Refusal | undefined }[] {
  return steps.map((one) => {
    world.now += one.afterMs;
    return { step: one, at: world.now, refusal: world.ask(one) };
  });
}

/** Holds a series of moments against a bucket's promise: in any window at most burst + rate × t, and a hair. */
function expectWithin(moments: readonly number[], { rate, burst }: { rate: number; burst: number }, buckets = 1): void {
  moments.forEach((from, first) => {
    for (let last = first; last < moments.length; last += 1) {
      const seconds = (moments[last]! - from) / 1000;
      expect(last - first + 1).toBeLessThanOrEqual(buckets * (burst + rate * seconds) + 0.01);
    }
  });
}

describe('Whatever is asked, and whenever', () => {
  it('no layer admits more than its burst and its rate, at any size of the map of addresses', () => {
    fc.assert(
      fc.property(history, ceiling, (steps, maxKeys) => {
        const admitted = happened(new World(maxKeys), steps).filter(({ refusal }) => refusal === undefined);
        const moments = (of: (one: Step) => boolean) => admitted.filter(({ step: one }) => of(one)).map(({ at }) => at);
        for (const tenant of TENANTS)
          expectWithin(
            moments((one) => one.tenant === tenant),
            TENANT,
          );
        // An address that fell into an overflow bucket may find a place of its own a moment later.
        for (let address = 0; address < 10; address += 1) {
          expectWithin(
            moments((one) => one.tenant === undefined && one.address === address),
            PREAUTH,
            2,
          );
        }
        expectWithin(
          moments((one) => one.tenant === undefined),
          PREAUTH,
          maxKeys + 2,
        );
        expectWithin(
          moments(() => true),
          GLOBAL,
        );
        expectWithin(
          moments((one) => one.tenant === undefined),
          { ...GLOBAL, burst: GLOBAL.burst * SHARE },
        );
      }),
    );
  });

  it('who waits as long as told is not refused by that layer again', () => {
    fc.assert(
      fc.property(history, step, ceiling, (steps, one, maxKeys) => {
        const world = new World(maxKeys);
        happened(world, steps);
        const waited = new Set<Limit>();
        for (let refusal = world.ask(one); refusal !== undefined; refusal = world.ask(one)) {
          expect(waited.has(refusal.limit) && refusal.limit !== 'quota').toBe(false);
          expect(Number.isInteger(refusal.retryAfterSeconds) && refusal.retryAfterSeconds >= 1).toBe(true);
          if (refusal.limit === 'quota') break;
          waited.add(refusal.limit);
          world.now += refusal.retryAfterSeconds * 1000;
        }
      }),
    );
  });

  it('a refused request leaves everything as if it had never come: nothing is lost and nothing is minted', () => {
    fc.assert(
      fc.property(history, stepOf(3), (steps, one) => {
        const probe = { ...one, call: true };
        const world = new World(100);
        const all = happened(world, steps);
        const without = new World(100);
        for (const { step: admitted, at, refusal } of all) {
          if (refusal !== undefined) continue;
          without.now = at;
          expect(without.ask(admitted)).toBeUndefined();
        }
        for (let i = 0; i < 7; i += 1) {
          // So much later each time that the global layer has a token even for who is not proven.
          world.now = without.now = world.now + 250;
          expect(world.ask(probe)).toEqual(without.ask(probe));
        }
      }),
      { numRuns: 400 },
    );
  });

  it('looking ahead says what would happen, and changes nothing', () => {
    fc.assert(
      fc.property(history, ceiling, (steps, maxKeys) => {
        const world = new World(maxKeys);
        for (const one of steps) {
          world.now += one.afterMs;
          const foreseen = world.foresee(one);
          expect(world.foresee(one)).toEqual(foreseen);
          expect(world.ask(one)).toEqual(foreseen);
        }
        expect(world.bucketsHeld()).toBeLessThanOrEqual(maxKeys + OVERFLOW_BUCKETS);
      }),
    );
  });
});
