import { Logger } from '@nestjs/common';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { faultyPlans, quietPlans } from './plans.js';
import { overshootBound, Simulation } from './simulation.js';

Logger.overrideLogger(false);

/** A failing seed is replayed by `SIMULATION_SEED=… SIMULATION_PATH=… npx vitest run test/simulation`. */
const replay = {
  ...(process.env['SIMULATION_SEED'] === undefined ? {} : { seed: Number(process.env['SIMULATION_SEED']) }),
  ...(process.env['SIMULATION_PATH'] === undefined ? {} : { path: process.env['SIMULATION_PATH'] }),
};
const NUM_RUNS = Number(process.env['SIMULATION_RUNS'] ?? 40);

describe('the shared quota in simulated worlds', () => {
  it('in quiet times stays within the documented bound, refuses nobody below the quota and stores every call', async () => {
    await fc.assert(
      fc.asyncProperty(quietPlans, async (plan) => {
        const { violations, overshoot } = await new Simulation(plan).run();
        expect(violations).toEqual([]);
        expect(overshoot).toBeLessThanOrEqual(overshootBound(plan));
      }),
      { numRuns: NUM_RUNS, ...replay },
    );
  }, 300_000);

  it('through partitions, lost answers, crashes, restarts and stepping clocks counts every call once', async () => {
    await fc.assert(
      fc.asyncProperty(faultyPlans, async (plan) => {
        const { violations } = await new Simulation(plan).run();
        expect(violations).toEqual([]);
      }),
      { numRuns: NUM_RUNS, ...replay },
    );
  }, 300_000);
});
