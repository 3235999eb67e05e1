import type { Weather } from './modelled-database.js';
import { ModelledDatabase } from './modelled-database.js';
import { keyOf, SimulatedInstance, type Surroundings } from './simulated-instance.js';
import { seededRandom, VirtualTime } from './virtual-time.js';

/** Something that goes wrong; times in milliseconds since the simulation began. */
export type Fault =
  | { readonly kind: 'partition'; readonly slot: number; readonly atMs: number; readonly lastsMs: number }
  | { readonly kind: 'loss'; readonly rate: number; readonly atMs: number; readonly lastsMs: number }
  | { readonly kind: 'slow'; readonly latencyMs: number; readonly atMs: number; readonly lastsMs: number }
  | { readonly kind: 'crash' | 'restart'; readonly slot: number; readonly atMs: number; readonly lastsMs: number }
  | { readonly kind: 'clock'; readonly slot: number; readonly atMs: number; readonly byMs: number }
  | { readonly kind: 'database clock'; readonly atMs: number; readonly byMs: number }
  | { readonly kind: 'rows lost'; readonly atMs: number };

/** One simulation, which its plan determines whole. */
export interface Plan {
  readonly seed: number;
  /** Places behind the load balancer; what crashes or restarts is replaced in its place. */
  readonly instances: number;
  readonly intervalMs: number;
  readonly quota: number;
  /** Calls per second and burst of a tenant's bucket on each instance. */
  readonly rate: number;
  readonly burst: number;
  /** When each tenant sends calls, in parts of the time in which there is traffic. */
  readonly tenants: readonly (readonly [begin: number, end: number])[];
  /** How long there is traffic. */
  readonly trafficMs: number;
  /** The first UTC midnight comes after this. */
  readonly midnightAfterMs: number;
  readonly faults: readonly Fault[];
}

/** What came of it. */
export interface Outcome {
  /** Broken promises, one sentence each; empty is the only good answer. */
  readonly violations: readonly string[];
  /** Calls admitted over the quota on the worst day of the worst tenant. */
  readonly overshoot: number;
  /** Calls admitted on that day. */
  readonly admitted: number;
}

const TICK_MS = 100;
const ORDINARY_LATENCY_MS = 5;
const EPOCH_MS = Date.UTC(2026, 10, 30);

const tenantName = (tenant: number): string => `t${tenant}`;

/** Runs one plan in virtual time. */
export class Simulation {
  private readonly time = new VirtualTime();
  private readonly random: () => number;
  private readonly epochMs: number;
  private readonly database: ModelledDatabase;
  private readonly everyone: SimulatedInstance[] = [];
  private readonly places: (SimulatedInstance | undefined)[];
  private readonly buckets: { tokens: number }[][];
  private readonly admitted = new Map<string, number>();
  private readonly violations: string[] = [];
  /** What was admitted up to each tick. */
  private readonly past: Map<string, number>[] = [];
  private isQuiet = false;

  constructor(private readonly plan: Plan) {
    this.random = seededRandom(plan.seed);
    const epochMs = EPOCH_MS - plan.midnightAfterMs;
    this.database = new ModelledDatabase(this.time, epochMs);
    this.places = Array.from({ length: plan.instances }, () => undefined);
    this.buckets = this.places.map(() => plan.tenants.map(() => ({ tokens: plan.burst })));
    this.epochMs = epochMs;
  }

  /** Lets it happen, waits until everything is quiet, and checks the books. */
  async run(): Promise<Outcome> {
    this.places.forEach((_, slot) => this.boot(slot));
    for (const fault of this.plan.faults) this.time.after(fault.atMs, () => this.strike(fault));
    this.time.after(0, () => this.tick());
    await this.time.runUntil(this.plan.trafficMs);
    this.isQuiet = true;
    await this.time.runUntil(this.plan.trafficMs + this.quietMs());
    this.checkBooks();
    this.checkConvergence();
    return { violations: this.violations, ...this.worstDay() };
  }

  /** Long enough for lost locks, back-offs and, where the database's clock stepped, for the next full read. */
  private quietMs(): number {
    const stepped = this.plan.faults.some((fault) => fault.kind === 'database clock');
    return 4 * this.plan.intervalMs + 150_000 + (stepped ? 660_000 : 0);
  }

  private boot(slot: number): void {
    const instance = new SimulatedInstance(this.surroundingsOf(slot), `i${this.everyone.length}`);
    this.everyone.push(instance);
    const begin = async () => {
      await instance.start();
      this.places[slot] = instance;
    };
    void begin();
  }

  private surroundingsOf(slot: number): Surroundings {
    const { intervalMs, quota } = this.plan;
    const { time, epochMs, database, random } = this;
    return { time, epochMs, database, random, intervalMs, quota, weather: () => this.weatherAt(slot) };
  }

  private weatherAt(slot: number): Weather {
    const fair = { partitioned: false, lossRate: 0, latencyMs: ORDINARY_LATENCY_MS * this.random() * 2 };
    const weather = { ...fair };
    if (this.isQuiet) return fair;
    for (const fault of this.plan.faults) {
      if (!('lastsMs' in fault) || this.time.nowMs < fault.atMs) continue;
      if (this.time.nowMs >= fault.atMs + fault.lastsMs) continue;
      if (fault.kind === 'partition' && fault.slot === slot) weather.partitioned = true;
      if (fault.kind === 'loss') weather.lossRate = fault.rate;
      if (fault.kind === 'slow') weather.latencyMs = fault.latencyMs * this.random();
    }
    return weather;
  }

  private strike(fault: Fault): void {
    if (fault.kind === 'database clock') this.database.clockOffsetMs += fault.byMs;
    if (fault.kind === 'rows lost') this.database.instances.clear();
    if (!('slot' in fault)) return;
    const instance = this.places[fault.slot];
    if (instance === undefined) return;
    if (fault.kind === 'clock') instance.clockOffsetMs += fault.byMs;
    if (fault.kind !== 'crash' && fault.kind !== 'restart') return;
    this.places[fault.slot] = undefined;
    if (fault.kind === 'crash') instance.crash();
    else void instance.shutDown();
    this.time.after(fault.lastsMs, () => this.boot(fault.slot));
  }

  /** Every tenant sends as much as its bucket on each instance lets through. */
  private tick(): void {
    if (this.isQuiet) return;
    const part = this.time.nowMs / this.plan.trafficMs;
    for (const [tenant, [begin, end]] of this.plan.tenants.entries()) {
      if (part < begin || part > end) continue;
      for (const slot of this.places.keys()) this.send(slot, tenant);
    }
    if (this.plan.faults.length === 0) this.checkLag();
    this.time.after(TICK_MS, () => this.tick());
  }

  private send(slot: number, tenant: number): void {
    const { rate, burst } = this.plan;
    const bucket = this.buckets[slot]?.[tenant];
    const instance = this.places[slot];
    if (bucket === undefined) return;
    bucket.tokens = Math.min(burst, bucket.tokens + (rate * TICK_MS) / 1_000);
    if (instance?.alive !== true) return;
    for (; bucket.tokens >= 1; bucket.tokens -= 1) this.call(instance, tenantName(tenant));
  }

  /** In ordinary times every instance knows of every call one lag after it was made. */
  private checkLag(): void {
    this.past.push(new Map(this.admitted));
    const known = this.past.at(-1 - Math.ceil(lagMs(this.plan.intervalMs) / TICK_MS));
    if (known === undefined) return;
    for (const [slot, instance] of this.places.entries()) {
      for (const tenant of instance === undefined ? [] : this.plan.tenants.keys()) {
        const calls = known.get(keyOf(instance?.wallDay() ?? 0, tenantName(tenant))) ?? 0;
        const used = instance?.counter.used(tenantName(tenant)) ?? 0;
        if (used < calls) this.violations.push(`place ${slot} knew of ${used} of ${calls} calls after one lag`);
      }
    }
  }

  private call(instance: SimulatedInstance, tenant: string): void {
    const utcDay = instance.call(tenant);
    const key = keyOf(instance.wallDay(), tenant);
    if (utcDay >= 0 && utcDay !== instance.wallDay()) this.violations.push(`${key} was counted on ${utcDay}`);
    const before = this.admitted.get(key) ?? 0;
    if (utcDay >= 0) this.admitted.set(key, before + 1);
    else if (before < this.plan.quota)
      this.violations.push(`refused ${key} after ${before} of ${this.plan.quota} calls`);
  }

  private checkBooks(): void {
    const rowsLost = this.plan.faults.some((fault) => fault.kind === 'rows lost');
    const stored = new Map<string, number>();
    for (const [index, instance] of this.everyone.entries()) {
      this.checkInstance(`i${index}`, instance);
      for (const [key, calls] of instance.committed) stored.set(key, (stored.get(key) ?? 0) + calls);
      if (instance.renewals > 0 && !rowsLost) this.violations.push(`i${index} took a new id`);
    }
    for (const [key, { calls }] of this.database.totals) {
      if (calls !== stored.get(key))
        this.violations.push(`${key}: ${calls} in the table, ${stored.get(key)} committed`);
    }
    if (this.everyone.length === 1 && !rowsLost && this.worstDay().overshoot > 0) {
      this.violations.push(`one instance alone admitted ${this.worstDay().admitted} calls`);
    }
  }

  /**
   * Never more than was counted; and less only by what a crash, a last flush that says so, or the loss of the instance's
   * row may take.
   */
  private checkInstance(name: string, instance: SimulatedInstance): void {
    const isWhole = this.places.includes(instance) || (instance.hadLastFlush && !instance.saidLost);
    for (const [key, counted] of instance.counted) {
      const committed = instance.committed.get(key) ?? 0;
      const lost = counted - committed;
      const unsafe = isWhole ? 0 : counted - (instance.safe.get(key) ?? 0);
      if (lost < 0) this.violations.push(`${name} ${key}: ${counted} counted, ${committed} stored`);
      if (lost > unsafe + instance.dropped) this.violations.push(`${name} ${key}: lost ${lost}, not ${unsafe}`);
    }
  }

  private checkConvergence(): void {
    for (const [slot, instance] of this.places.entries()) {
      if (instance === undefined) continue;
      if (instance.flusher.hasUnsent) this.violations.push(`place ${slot} still has unsent calls`);
      for (const tenant of this.plan.tenants.keys()) {
        const used = instance.counter.used(tenantName(tenant));
        const calls = this.database.callsOf(instance.counter.currentDay(), tenantName(tenant));
        // A batch that was dropped with the instance's row is held against its tenants until a total is adopted, which
        // there is none of where all of the tenant's calls were in it.
        if (used < calls || used > calls + instance.dropped)
          this.violations.push(`place ${slot} holds ${used} for ${tenantName(tenant)}, stored are ${calls}`);
      }
    }
  }

  private worstDay(): { overshoot: number; admitted: number } {
    const admitted = Math.max(0, ...this.admitted.values());
    return { admitted, overshoot: Math.max(0, admitted - this.plan.quota) };
  }
}

/** The longest time until every instance has a count, in ordinary times. Design: "one lag L". */
export function lagMs(intervalMs: number): number {
  return intervalMs + Math.min(1_000, intervalMs / 10) + 500 + 2_000;
}

/** The documented bound of calls over the quota, of `instances` that were ever there. Design: "The bound". */
export function overshootBound(plan: Plan, instances = plan.instances, outageMs = 0): number {
  return (instances - 1) * ((plan.rate * (lagMs(plan.intervalMs) + outageMs)) / 1_000 + plan.burst);
}
