import { Logger } from '@nestjs/common';
import fc from 'fast-check';
import { DAY_MS } from '../../../src/quota/utc-day.js';
import { describe, expect, it } from 'vitest';
import { faultyPlans, quietPlans } from '../plans.js';
import { overshootBound, type Plan, Simulation } from '../simulation.js';

Logger.overrideLogger(false);

/** Worlds per property; each that fails prints its seed and its path. */
const RUNS = Number(process.env['SIMULATION_RUNS'] ?? 1_000);
/** Worlds per row of the table. */
const SEEDS = 5;

const INSTANCES = [1, 2, 4, 8, 16];
const INTERVALS_MS = [10_000, 30_000, 60_000];
const RATES = [1, 5, 20];
const QUOTA = 5_000;

interface Row {
  readonly instances: number;
  readonly intervalMs: number;
  readonly rate: number;
  readonly worst: number;
  readonly bound: number;
}

/** One tenant that sends on every instance as much as it may, until well after its quota is used up. */
function planOf(seed: number, instances: number, intervalMs: number, rate: number): Plan {
  const untilExhaustedMs = (QUOTA / (instances * rate)) * 1_000;
  return {
    seed,
    instances,
    intervalMs,
    rate,
    burst: 20,
    quota: QUOTA,
    tenants: [[0, 1]],
    trafficMs: untilExhaustedMs + 3 * intervalMs,
    midnightAfterMs: DAY_MS / 2,
    faults: [],
  };
}

async function measure(instances: number, intervalMs: number, rate: number): Promise<Row> {
  let worst = 0;
  for (let seed = 1; seed <= SEEDS; seed += 1) {
    const { overshoot, violations } = await new Simulation(planOf(seed, instances, intervalMs, rate)).run();
    expect(violations).toEqual([]);
    worst = Math.max(worst, overshoot);
  }
  const bound = overshootBound(planOf(0, instances, intervalMs, rate));
  return { instances, intervalMs, rate, worst, bound };
}

function print(rows: readonly Row[]): void {
  const lines = rows.map(({ instances, intervalMs, rate, worst, bound }) => {
    const cells = [instances, intervalMs / 1_000, rate, worst, Math.floor(bound)];
    return `| ${cells.join(' | ')} |`;
  });
  const head = [
    '| instances | interval (s) | calls/s per instance | calls over | bound |',
    '| --- | --- | --- | --- | --- |',
  ];
  process.stdout.write(`\nCalls over a quota of ${QUOTA}, the worst of ${SEEDS} runs each:\n\n`);
  process.stdout.write(`${[...head, ...lines].join('\n')}\n\n`);
}

describe('the long simulation', () => {
  it('the overshoot by instances, interval and rate stays within the documented bound', async () => {
    const rows: Row[] = [];
    for (const intervalMs of INTERVALS_MS) {
      for (const rate of RATES) {
        for (const instances of INSTANCES) rows.push(await measure(instances, intervalMs, rate));
      }
    }
    print(rows);
    expect(rows.filter(({ worst, bound }) => worst > bound)).toEqual([]);
  });

  it(`${RUNS} quiet and ${RUNS} faulty worlds keep every promise`, async () => {
    const run = async (plan: Plan) => {
      const { violations, overshoot } = await new Simulation(plan).run();
      expect(violations).toEqual([]);
      if (plan.faults.length === 0) expect(overshoot).toBeLessThanOrEqual(overshootBound(plan));
    };
    await fc.assert(fc.asyncProperty(quietPlans, run), { numRuns: RUNS });
    await fc.assert(fc.asyncProperty(faultyPlans, run), { numRuns: RUNS });
  });
});
