import { Logger } from '@nestjs/common';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ModelledDatabase, type Weather } from '../../test/simulation/modelled-database.js';
import { SimulatedInstance } from '../../test/simulation/simulated-instance.js';
import { VirtualTime } from '../../test/simulation/virtual-time.js';

const logged: string[] = [];
const log = (line: unknown) => void logged.push(String(line));
beforeEach(() => {
  logged.length = 0;
  Logger.overrideLogger({ log, warn: log, error: log });
});
afterEach(() => Logger.overrideLogger(false));

const HOUR_MS = 3_600_000;
/** With its share of the jitter, where every random number is one half. */
const FLUSH_DUE_MS = HOUR_MS + 500;
const FAIR: Weather = { partitioned: false, lossRate: 0, latencyMs: 5 };
const AWAY: Weather = { ...FAIR, partitioned: true };

/** One server, in virtual time, over a database that is there or away as the test says. */
function setUp(weather = FAIR) {
  const time = new VirtualTime();
  const epochMs = Date.UTC(2026, 10, 29, 12);
  const database = new ModelledDatabase(time, epochMs);
  const sky = { weather };
  const surroundings = { time, epochMs, database, intervalMs: HOUR_MS, quota: 100, random: () => 0.5 };
  const instance = new SimulatedInstance({ ...surroundings, weather: () => sky.weather }, 'i');
  const stored = () => database.callsOf(instance.wallDay(), 't');
  const call = (times: number) => {
    for (let n = 0; n < times; n += 1) instance.call('t');
  };
  return { time, sky, database, instance, stored, call };
}

/** A server that is told to stop as the database goes away under three calls that a flush has just taken. */
async function stoppedWithCallsOnTheirWay(): Promise<ReturnType<typeof setUp>> {
  const world = setUp();
  void world.instance.start();
  await world.time.runUntil(1_000);
  world.call(3);
  await world.time.runUntil(FLUSH_DUE_MS + 1);
  world.sky.weather = AWAY;
  void world.instance.shutDown();
  return world;
}

describe('the flush', () => {
  it('is due once an interval, and its totals are adopted', async () => {
    const { time, instance, stored, call } = setUp();
    void instance.start();
    await time.runUntil(1_000);
    call(3);
    await time.runUntil(HOUR_MS - 1);
    expect(stored()).toBe(0);
    await time.runUntil(HOUR_MS + 1_000);
    expect(stored()).toBe(3);
    expect(instance.counter.used('t')).toBe(3);
  });

  it('does not wait for the end of a long interval to find out that the database is back', async () => {
    const { time, sky, instance, stored, call } = setUp();
    void instance.start();
    await time.runUntil(1_000);
    sky.weather = AWAY;
    call(60);
    await time.runUntil(20_000);
    expect(instance.isDegraded).toBe(true);
    expect(stored()).toBe(0);
    sky.weather = FAIR;
    await time.runUntil(120_000);
    expect(stored()).toBe(60);
    expect(instance.isDegraded).toBe(false);
  });

  it('holds up the start for two seconds at the most', async () => {
    const { time, instance } = setUp(AWAY);
    void instance.start();
    await time.runUntil(1_999);
    expect(instance.alive).toBe(false);
    await time.runUntil(2_001);
    expect(instance.alive).toBe(true);
    expect(instance.isDegraded).toBe(true);
  });

  it('is tried again on shutdown until it succeeds', async () => {
    const { time, sky, instance, stored, call } = setUp();
    void instance.start();
    await time.runUntil(1_000);
    call(3);
    sky.weather = AWAY;
    const ended = instance.shutDown();
    await time.runUntil(3_500);
    sky.weather = FAIR;
    await time.runUntil(20_000);
    await ended;
    expect(stored()).toBe(3);
  });

  it('holds up the end for five seconds at the most', async () => {
    const { time, sky, instance, call } = setUp();
    void instance.start();
    await time.runUntil(1_000);
    call(3);
    sky.weather = AWAY;
    void instance.shutDown();
    await time.runUntil(5_999);
    expect(instance.hadLastFlush).toBe(false);
    await time.runUntil(6_001);
    expect(instance.hadLastFlush).toBe(true);
  });

  it('waits on shutdown for what is on its way already, and says what became of it', async () => {
    const { time, instance, stored } = await stoppedWithCallsOnTheirWay();
    await time.runUntil(FLUSH_DUE_MS + 4_900);
    expect([instance.hadLastFlush, instance.isDegraded, stored()]).toEqual([false, true, 0]);
    await time.runUntil(FLUSH_DUE_MS + 5_100);
    expect(instance.hadLastFlush).toBe(true);
    expect(logged.at(-1)).toMatch(/^The last flush failed: 3 calls are lost/);
  });

  it('stores on shutdown what was on its way when the database went away for a moment', async () => {
    const { time, sky, database, instance, stored } = await stoppedWithCallsOnTheirWay();
    await time.runUntil(FLUSH_DUE_MS + 2_500);
    sky.weather = FAIR;
    await time.runUntil(FLUSH_DUE_MS + 10_000);
    expect([instance.hadLastFlush, stored()]).toEqual([true, 3]);
    // Degraded until a read as well has succeeded, it has taken leave all the same: its last flush did.
    expect(database.instances.size).toBe(0);
  });

  it('is followed by a good-bye on shutdown, after which the instance counts as live no longer', async () => {
    const { time, database, instance, stored, call } = setUp();
    void instance.start();
    await time.runUntil(1_000);
    expect(database.instances.size).toBe(1);
    call(3);
    const ended = instance.shutDown();
    await time.runUntil(2_000);
    await ended;
    expect([stored(), database.instances.size]).toEqual([3, 0]);
    await time.runUntil(3 * HOUR_MS);
    expect(database.instances.size).toBe(0);
    expect(logged).toEqual(['Storing the last calls (3).']);
  });

  it('says on shutdown what it waits for, and at the end what was not stored', async () => {
    const { time, sky, instance, call } = setUp();
    void instance.start();
    await time.runUntil(1_000);
    call(3);
    sky.weather = AWAY;
    void instance.shutDown();
    await time.runUntil(5_900);
    expect(logged.filter((line) => !line.startsWith('Quota persistence'))).toEqual([
      'Storing the last calls (3).',
      'model does not take the last calls: trying on, for 5 s in all.',
    ]);
    await time.runUntil(6_100);
    expect(logged.at(-1)).toMatch(/^The last flush failed: 3 calls are lost/);
  });

  it.each(Array.from({ length: 31 }, (_, ms) => ms))(
    'has nothing to say of a database that it leaves itself, %i ms after a flush was due',
    async (ms) => {
      const { time, instance } = setUp();
      void instance.start();
      await time.runUntil(FLUSH_DUE_MS + ms);
      void instance.shutDown();
      await time.runUntil(FLUSH_DUE_MS + 10_000);
      expect(instance.hadLastFlush).toBe(true);
      expect(logged).toEqual([]);
    },
  );

  it('has nothing to say of a read that is slower than its good-bye', async () => {
    const { time, sky, instance } = setUp();
    void instance.start();
    await time.runUntil(FLUSH_DUE_MS + 12);
    sky.weather = { ...FAIR, latencyMs: 900 };
    await time.runUntil(FLUSH_DUE_MS + 25);
    void instance.shutDown();
    await time.runUntil(FLUSH_DUE_MS + 10_000);
    expect(instance.hadLastFlush).toBe(true);
    expect(logged).toEqual([]);
  });

  it('reads nothing and has nobody exchange anything once it has said good-bye', async () => {
    const { time, instance } = setUp();
    const asked: string[] = [];
    instance.follow({
      flushed: () => void asked.push('flushed'),
      readAgain: () => void asked.push('readAgain'),
      flushedLast: () => Promise.resolve(void asked.push('flushedLast')),
    });
    void instance.start();
    await time.runUntil(FLUSH_DUE_MS + 5);
    void instance.shutDown();
    await time.runUntil(FLUSH_DUE_MS + 10_000);
    expect(asked).toEqual(['flushed', 'flushedLast']);
    const read = instance.flusher.read();
    await time.runUntil(FLUSH_DUE_MS + 20_000);
    await expect(read).resolves.toBe(false);
  });

  it('has nothing to say on shutdown where everything is stored', async () => {
    const { time, instance } = setUp();
    void instance.start();
    await time.runUntil(1_000);
    void instance.shutDown();
    await time.runUntil(2_000);
    expect(logged).toEqual([]);
  });
});
