import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { DATABASE_PROGRAMS, type DatabaseServer } from '../support/database-server.js';
import { ask, bearer } from '../support/test-server.js';
import { waitUntil } from '../support/wait-until.js';
import { credential, NGINX, startDeployment } from './deployment.js';

const QUOTA = 1600;
const RATE = 50;
const BURST = 20;
const INTERVAL_SECONDS = 2;
const OUTAGE_SECONDS = 2;
const CALLERS = 6;
/** docs/limits.md: interval, jitter, read delay, statement time-out. */
const LAG_SECONDS = INTERVAL_SECONDS + INTERVAL_SECONDS / 10 + 0.5 + 2;
const BOUND = RATE * LAG_SECONDS + BURST + CALLERS;
/** How old the last flush of a healthy instance may be that is killed: an interval, its jitter, and the flush itself. */
const UNFLUSHED_SECONDS = INTERVAL_SECONDS + INTERVAL_SECONDS / 10 + 1;

const SETTINGS = {
  TIDB_MCP_DAILY_QUOTA: String(QUOTA),
  TIDB_MCP_TENANT_RPS: String(RATE),
  TIDB_MCP_TENANT_BURST: String(BURST),
  TIDB_MCP_GLOBAL_RPS: '1000000',
  TIDB_MCP_GLOBAL_BURST: '1000000',
  TIDB_MCP_QUOTA_FLUSH_SECONDS: String(INTERVAL_SECONDS),
  TIDB_MCP_SHUTDOWN_GRACE_SECONDS: '1',
};

/** Callers of one tenant that call without a pause, and what they were answered. */
class Load {
  served = 0;
  refused = 0;
  /** Answers that never came or were a gateway's: the call may have been counted. */
  unknown = 0;
  private readonly servedAtMs: number[] = [];
  private going = false;
  private callers: Promise<void>[] = [];

  constructor(private readonly url: string) {}

  begin(): void {
    this.going = true;
    this.callers = Array.from({ length: CALLERS }, () => this.callOn());
  }

  async end(): Promise<void> {
    this.going = false;
    await Promise.all(this.callers);
  }

  /** Calls that were served in the `seconds` before an instant. */
  servedBefore(atMs: number, seconds: number): number {
    return this.servedAtMs.filter((ms) => ms > atMs - seconds * 1000 && ms <= atMs).length;
  }

  /** Waits until both instances refuse by the quota, without a single call in between. */
  async untilExhausted(): Promise<void> {
    for (;;) {
      const { served } = this;
      await pause(LAG_SECONDS * 1000);
      if (this.served === served && this.refused > 0) return;
    }
  }

  private async callOn(): Promise<void> {
    while (this.going) {
      const answer = await ask(`${this.url}/v1/capabilities`, bearer(credential(0))).catch(() => undefined);
      if (answer?.status === 200) {
        this.served += 1;
        this.servedAtMs.push(performance.now());
      } else if (answer?.status === 429) {
        if (answer.json().limit === 'quota') this.refused += 1;
        await pause(20);
      } else this.unknown += 1;
    }
  }
}

type Undo = (step: () => Promise<void>) => void;

/** Everything that the test needs; `undo` is told how each part ends, and does so in reverse. */
async function deploy(create: () => Promise<DatabaseServer>, undo: Undo) {
  const server = await create();
  undo(() => server.remove());
  await server.start();
  const here = await startDeployment(SETTINGS, () => server.scratch());
  undo(() => here.stop());
  const stored = async (): Promise<number> => {
    const [row] = await here.database.query('SELECT SUM(calls) AS calls FROM quota_usage');
    return Number(row?.['calls']);
  };
  return { server, here, stored, load: new Load(here.url) };
}

/** A crash of the database and a SIGTERM, after which everything that was admitted is stored, once. */
async function throughCrashAndRestart({ server, here, stored, load }: Awaited<ReturnType<typeof deploy>>) {
  load.begin();
  await waitUntil('some of it is stored', async () => (await stored()) > 0);
  await server.crash();
  const { served } = load;
  await pause(OUTAGE_SECONDS * 1000);
  expect(load.served).toBeGreaterThan(served + CALLERS);
  await server.start();
  expect(await here.instances[0].end()).toBe(0);
  await here.restart(0);
  await load.end();
  expect(load.unknown).toBe(0);
  await waitUntil('all of it is stored', async () => (await stored()) >= load.served, 30_000);
  await pause(UNFLUSHED_SECONDS * 1000);
  expect(await stored()).toBe(load.served);
}

/**
 * A SIGKILL, and then calls until the day's quota is used up; how many of them the one that was killed may have lost.
 */
async function throughKill({ here, load }: Awaited<ReturnType<typeof deploy>>): Promise<number> {
  load.begin();
  await pause(INTERVAL_SECONDS * 1000);
  const killedAtMs = performance.now();
  await here.instances[1].end('SIGKILL');
  const lostAtMost = load.servedBefore(killedAtMs, UNFLUSHED_SECONDS);
  await here.restart(1);
  await load.untilExhausted();
  await load.end();
  await Promise.all(here.instances.map((instance) => instance.end()));
  return lostAtMost;
}

describe.concurrent.each(DATABASE_PROGRAMS)(
  'Two instances behind nginx on $name',
  ({ name, available, note, create }) => {
    it.skipIf(!available || !NGINX.available)(
      `keep to the bound and store what they admitted, through a crash of the database, a SIGTERM and a SIGKILL${note || NGINX.note}`,
      async ({ onTestFinished }) => {
        const deployment = await deploy(create, (step) => onTestFinished(step, 60_000));
        const { stored, load } = deployment;
        await throughCrashAndRestart(deployment);
        const lostAtMost = await throughKill(deployment);
        // What the killed one was asked last, nginx may have asked the other as well.
        const askedTwice = CALLERS;
        expect(load.served + load.unknown + askedTwice).toBeGreaterThanOrEqual(QUOTA);
        expect(load.served).toBeLessThanOrEqual(QUOTA + BOUND + lostAtMost);
        expect(await stored()).toBeLessThanOrEqual(load.served + load.unknown + askedTwice);
        expect(await stored()).toBeGreaterThanOrEqual(load.served - lostAtMost);
        console.info(`${name}: served ${load.served} of ${QUOTA}, stored ${await stored()}, unknown ${load.unknown}`);
      },
      180_000,
    );
  },
);
