import { Logger } from '@nestjs/common';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ModelledDatabase, type Weather } from '../../test/simulation/modelled-database.js';
import { SimulatedInstance } from '../../test/simulation/simulated-instance.js';
import { VirtualTime } from '../../test/simulation/virtual-time.js';

const HOUR_MS = 3_600_000;
const FAIR: Weather = { partitioned: false, lossRate: 0, latencyMs: 5 };
const SLOW: Weather = { ...FAIR, latencyMs: 450 };

beforeAll(() => Logger.overrideLogger(false));
afterAll(() => Logger.overrideLogger(false));

/** One server over a database that answers as fast as the test says. */
function setUp(epochMs: number, quota: number) {
  const time = new VirtualTime();
  const database = new ModelledDatabase(time, epochMs);
  const sky = { weather: FAIR };
  const surroundings = { time, epochMs, database, intervalMs: HOUR_MS, quota, random: () => 0.5 };
  const instance = new SimulatedInstance({ ...surroundings, weather: () => sky.weather }, 'i');
  return { time, sky, instance };
}

describe('a database that is slow and works', () => {
  it('is not taken for one that is away when each tenant makes its first call of a day', async () => {
    const { time, sky, instance } = setUp(Date.UTC(2026, 10, 29, 23, 59, 50), 100);
    void instance.start();
    await time.runUntil(9_000);
    sky.weather = SLOW;
    for (let n = 0; n < 500; n += 1) {
      await time.runUntil(10_000 + n * 10);
      instance.call(`t${n}`);
      expect(instance.isDegraded).toBe(false);
    }
  });

  it('is not taken for one that is away when many tenants come near the end of their quota', async () => {
    const { time, sky, instance } = setUp(Date.UTC(2026, 10, 29, 12, 0, 1), 4);
    void instance.start();
    await time.runUntil(1_000);
    sky.weather = SLOW;
    for (let n = 0; n < 500; n += 1) {
      await time.runUntil(1_000 + n * 10);
      instance.call(`t${n}`);
      instance.call(`t${n}`);
      expect(instance.isDegraded).toBe(false);
    }
  });
});
