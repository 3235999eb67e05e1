import fc from 'fast-check';
import { DAY_MS } from '../../src/quota/utc-day.js';
import { type Fault, type Plan } from './simulation.js';

const intervals = fc.constantFrom(1_000, 5_000, 10_000, 30_000, 60_000);
const seeds = fc.integer({ min: 0, max: 0xffff_ffff });

/** Midnight within the traffic, or far from it. */
const midnights = fc.oneof(fc.integer({ min: 1_000, max: 150_000 }), fc.constant(DAY_MS / 2));

const part = fc.double({ min: 0, max: 1, noNaN: true });
/** Always, or only for a while: what is not touched again is what a read can miss. */
const window = fc.oneof(
  fc.constant<readonly [number, number]>([0, 1]),
  fc.tuple(part, part).map(([a, b]): readonly [number, number] => [Math.min(a, b), Math.max(a, b)]),
);

function planOf(faults: fc.Arbitrary<readonly Fault[]>, instances: fc.Arbitrary<number>): fc.Arbitrary<Plan> {
  return fc.record({
    seed: seeds,
    instances,
    intervalMs: intervals,
    quota: fc.constantFrom(20, 100, 500),
    rate: fc.constantFrom(0.5, 2, 5),
    burst: fc.constantFrom(1, 5, 20),
    tenants: fc.array(window, { minLength: 1, maxLength: 3 }),
    trafficMs: fc.integer({ min: 30_000, max: 180_000 }),
    midnightAfterMs: midnights,
    faults,
  });
}

const atMs = fc.integer({ min: 0, max: 150_000 });
const lastsMs = fc.integer({ min: 100, max: 60_000 });
const slot = fc.integer({ min: 0, max: 3 });
const steps = fc.oneof(
  fc.integer({ min: -120_000, max: 120_000 }),
  fc.constantFrom(-DAY_MS, DAY_MS, 10 * DAY_MS, -3_600_000),
);

const partition: fc.Arbitrary<Fault> = fc.record({ kind: fc.constant('partition' as const), slot, atMs, lastsMs });
const loss: fc.Arbitrary<Fault> = fc.record({
  kind: fc.constant('loss' as const),
  rate: fc.constantFrom(0.05, 0.3, 0.8),
  atMs,
  lastsMs,
});
const slow: fc.Arbitrary<Fault> = fc.record({
  kind: fc.constant('slow' as const),
  latencyMs: fc.constantFrom(200, 900, 3_000),
  atMs,
  lastsMs,
});
const crashOrRestart: fc.Arbitrary<Fault> = fc.record({
  kind: fc.constantFrom('crash' as const, 'restart' as const),
  slot,
  atMs,
  lastsMs,
});
const clock: fc.Arbitrary<Fault> = fc.record({ kind: fc.constant('clock' as const), slot, atMs, byMs: steps });
const databaseClock: fc.Arbitrary<Fault> = fc.record({
  kind: fc.constant('database clock' as const),
  atMs,
  byMs: fc.integer({ min: -300_000, max: 300_000 }),
});
const rowsLost: fc.Arbitrary<Fault> = fc.record({ kind: fc.constant('rows lost' as const), atMs });
const fault = fc.oneof(partition, loss, slow, crashOrRestart, clock, databaseClock, rowsLost);

/** The rows of the instances are lost while answers are. */
const lossAndLostRows: fc.Arbitrary<Fault[]> = fc
  .tuple(atMs, fc.integer({ min: 0, max: 60_000 }))
  .map(([at, after]) => [
    { kind: 'loss', rate: 0.5, atMs: at, lastsMs: 60_000 },
    { kind: 'rows lost', atMs: at + after },
  ]);

/** One trouble of each kind, several times. */
function several(kind: fc.Arbitrary<Fault>): fc.Arbitrary<Fault[]> {
  return fc.array(kind, { minLength: 1, maxLength: 5 });
}

const faults = fc.oneof(
  several(fault),
  lossAndLostRows,
  several(crashOrRestart),
  several(fc.oneof(clock, databaseClock)),
  several(fc.oneof(slow, databaseClock)),
);

/** Nothing goes wrong. */
export const quietPlans = planOf(fc.constant([]), fc.integer({ min: 1, max: 16 }));

/** All sorts of things go wrong, several at once. */
export const faultyPlans = planOf(faults, fc.integer({ min: 1, max: 4 }));
