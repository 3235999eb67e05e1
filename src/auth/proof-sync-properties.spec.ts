import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ModelledProofTable, type Weather } from '../../test/support/modelled-proof-table.js';
import { ProofExchange } from '../proof-store/proof-exchange.js';
import type { TenantContext } from '../request/credential.js';
import { ProofSync } from './proof-sync.js';
import { ProvenCredentials } from './proven-credentials.js';
import { RevalidationTimes } from './revalidation.js';
import { NO_BUCKETS } from './tenant-buckets.js';

const HOUR = 3_600_000;
const NAMES = ['a', 'b', 'c', 'd'];
const EPOCH_MS = Date.UTC(2026, 10, 29, 12);
const LISTENER = { proven: () => undefined, confirmed: () => undefined, forgotten: () => undefined };

const contextOf = (name: string): TenantContext => {
  const credential = { kind: 'api-key', publicKey: name, privateKey: 'x' } as const;
  return { identity: { kind: 'api-key', fingerprint: name, tenant: name, credential }, session: { credential } };
};

/** Time that all share, and the database's own idea of it. */
class World {
  nowMs = 0;
  stepMs = 0;
  readonly table: ModelledProofTable;
  readonly instances: Instance[];

  constructor(count: number, ttlMs: number, latenciesMs: readonly number[] = [0]) {
    let messages = 0;
    const travel = (): void => void (this.nowMs += latenciesMs[(messages += 1) % latenciesMs.length]!);
    this.table = new ModelledProofTable(() => EPOCH_MS + this.nowMs + this.stepMs, travel);
    this.instances = Array.from({ length: count }, (_, n) => new Instance(this, n, ttlMs));
  }

  /** One interval in fair weather: everybody's flush, and the two further reads. */
  async settle(): Promise<void> {
    this.table.weather = 'fair';
    for (const instance of this.instances) await instance.exchange();
    for (let read = 0; read < 2; read += 1) for (const instance of this.instances) await instance.read();
  }
}

/** One server's proofs, on a monotonic clock that began at a moment of its own. */
class Instance {
  readonly proven: ProvenCredentials;
  private readonly sync: ProofSync;
  private readonly exchanger: ProofExchange;

  constructor(
    private readonly world: World,
    private readonly number: number,
    ttlMs: number,
  ) {
    const lives = { provenIdleMs: ttlMs, contextIdleMs: ttlMs / 2, revalidation: new RevalidationTimes(0, () => 0) };
    this.proven = new ProvenCredentials(10, lives, NO_BUCKETS, {
      ...LISTENER,
      forgotten: ({ fingerprint }) => this.sync.noteForgotten(fingerprint),
    });
    this.sync = new ProofSync(this.proven, 10, () => this.monotonicMs());
    const clock = { monotonicMs: () => this.monotonicMs(), utcMs: () => Number.NaN };
    const options = { provenIdleMs: ttlMs, provenMax: 10, intervalMs: 30_000 };
    this.exchanger = new ProofExchange(world.table, this.sync, clock, options, () => Promise.resolve());
  }

  monotonicMs(): number {
    return this.world.nowMs - this.number * 777;
  }

  has(name: string): boolean {
    return this.proven.has(name, this.monotonicMs());
  }

  accept(name: string): void {
    this.proven.prove(contextOf(name), this.monotonicMs());
    this.sync.noteUse(name);
  }

  use(name: string): boolean {
    if (this.proven.context(name, this.monotonicMs()) === undefined) return false;
    this.proven.use(name, this.monotonicMs());
    this.sync.noteUse(name);
    return true;
  }

  reject(name: string): void {
    this.sync.noteRejected(name);
    this.proven.reject(name, this.monotonicMs());
  }

  async exchange(): Promise<void> {
    await this.exchanger.writeAndRead().catch(() => undefined);
  }

  async read(): Promise<void> {
    await this.exchanger.read();
  }
}

const act = fc.record({
  what: fc.constantFrom('accept', 'accept', 'use', 'use', 'reject', 'exchange', 'exchange', 'weather'),
  name: fc.constantFrom(...NAMES),
  who: fc.nat({ max: 2 }),
  weather: fc.constantFrom<Weather>('fair', 'away', 'writes-fail', 'answers-to-writes-are-lost'),
  waitMs: fc.oneof({ weight: 5, arbitrary: fc.integer({ min: 1, max: 50 }) }, fc.constantFrom(20_000, 90_000)),
});
type Act = typeof act extends fc.Arbitrary<infer A> ? A : never;

/** When each credential was last accepted, used and rejected anywhere; the truth that nobody in there knows. */
interface Truth {
  readonly accepted: Map<string, number>;
  readonly used: Map<string, number>;
  readonly rejected: Map<string, number>;
}

async function play(world: World, acts: readonly Act[]): Promise<Truth> {
  const truth: Truth = { accepted: new Map(), used: new Map(), rejected: new Map() };
  for (const { what, name, who, weather, waitMs } of acts) {
    world.nowMs += waitMs;
    const instance = world.instances[who % world.instances.length]!;
    if (what === 'accept') {
      instance.accept(name);
      truth.accepted.set(name, world.nowMs);
    }
    if (what === 'accept' || (what === 'use' && instance.use(name))) truth.used.set(name, world.nowMs);
    if (what === 'reject') {
      instance.reject(name);
      truth.rejected.set(name, world.nowMs);
    }
    if (what === 'exchange') await instance.exchange();
    if (what === 'weather') world.table.weather = weather;
  }
  world.nowMs += 1;
  await world.settle();
  return truth;
}

const acts = fc.array(act, { maxLength: 60, size: 'max' });
const instances = fc.integer({ min: 2, max: 3 });
const latencies = fc.array(fc.integer({ min: 0, max: 400 }), { minLength: 1, maxLength: 7 });

describe('Proofs of several instances, whatever happens', () => {
  it('come to be the same everywhere: whoever was accepted after the last rejection, and nobody else', async () => {
    await fc.assert(
      fc.asyncProperty(acts, instances, async (all, count) => {
        const world = new World(count, 1000 * HOUR);
        const { accepted, rejected } = await play(world, all);
        for (const name of NAMES) {
          const holds = (accepted.get(name) ?? -1) > (rejected.get(name) ?? -1);
          expect([name, world.instances.map((instance) => instance.has(name))]).toEqual([
            name,
            world.instances.map(() => holds),
          ]);
        }
      }),
    );
  });

  it('bring nothing back that was rejected, however slow the database is', async () => {
    await fc.assert(
      fc.asyncProperty(acts, instances, latencies, async (all, count, latenciesMs) => {
        const world = new World(count, 1000 * HOUR, latenciesMs);
        const { accepted, rejected } = await play(world, all);
        for (const name of NAMES) {
          if ((rejected.get(name) ?? -1) < (accepted.get(name) ?? 0)) continue;
          expect([name, world.instances.some((instance) => instance.has(name))]).toEqual([name, false]);
        }
      }),
    );
  });

  it('end a while after their last use anywhere, and no restart makes them last longer', async () => {
    const ttlMs = 100_000;
    await fc.assert(
      fc.asyncProperty(acts, instances, async (all, count) => {
        const world = new World(count, ttlMs);
        const { used } = await play(world, all);
        world.instances.push(new Instance(world, 9, ttlMs));
        await world.settle();
        for (const name of NAMES) {
          if (world.nowMs - (used.get(name) ?? -ttlMs) < ttlMs) continue;
          expect([name, world.instances.some((instance) => instance.has(name))]).toEqual([name, false]);
        }
      }),
    );
  });
});

describe('The database’s clock', () => {
  const settled = async (): Promise<World> => {
    const world = new World(2, 24 * HOUR);
    world.instances[0]!.accept('a');
    await world.settle();
    return world;
  };
  const holders = (world: World): boolean[] => world.instances.map((instance) => instance.has('a'));
  const pass = async (world: World, ms: number): Promise<void> => {
    world.nowMs += ms;
    await world.settle();
  };

  it('may be set back: rejections and acceptances go on to be heard in the order in which they were made', async () => {
    const world = await settled();
    world.stepMs -= 365 * 24 * HOUR;
    await pass(world, 60_000);
    expect(holders(world)).toEqual([true, true]);
    world.stepMs -= HOUR;
    world.instances[1]!.reject('a');
    await world.instances[1]!.exchange();
    await pass(world, 600_000);
    expect(holders(world)).toEqual([false, false]);
    world.instances[1]!.accept('a');
    await pass(world, 60_000);
    expect(holders(world)).toEqual([true, true]);
  });

  it('makes no proof permanent that was used while it was ahead, however often servers restart', async () => {
    const world = await settled();
    world.stepMs -= 365 * 24 * HOUR;
    for (let hours = 0; hours < 25; hours += 1) {
      world.instances.splice(1, 1, new Instance(world, hours, 24 * HOUR));
      await pass(world, HOUR);
    }
    expect(holders(world)).toEqual([false, false]);
  });

  it('may be set ahead: proofs end early at the worst', async () => {
    const world = await settled();
    world.stepMs += 25 * HOUR;
    world.instances.push(new Instance(world, 7, 24 * HOUR));
    await pass(world, 60_000);
    expect(holders(world)).toEqual([true, true, false]);
  });
});
