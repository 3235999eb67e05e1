import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { DATABASE_KINDS } from '../support/control-databases.js';
import { TcpProxy } from '../support/tcp-proxy.js';
import { ask, bearer } from '../support/test-server.js';
import { credential, type Deployment, NGINX, startDeployment } from './deployment.js';

const QUOTA = 1500;
const RATE = 100;
const BURST = 50;
const INTERVAL_SECONDS = 2;
const OUTAGE_SECONDS = 3;
const CALLERS = 6;
/** docs/limits.md: interval, jitter, read delay, statement time-out. */
const LAG_SECONDS = INTERVAL_SECONDS + INTERVAL_SECONDS / 10 + 0.5 + 2;
const BOUND = RATE * (LAG_SECONDS + OUTAGE_SECONDS) + BURST + CALLERS;
/** What the killed instance had counted since its last successful flush: an interval, and the outage where it met one. */
const LOST_AT_MOST = RATE * (INTERVAL_SECONDS + OUTAGE_SECONDS + 1) + BURST;

interface Tally {
  going: boolean;
  served: number;
  refused: number;
  /** Answers that never came or were a gateway's: the call may have been counted. */
  unknown: number;
}

let deployed: Deployment | undefined;
let proxy: TcpProxy | undefined;
afterEach(async () => {
  await deployed?.stop();
  await proxy?.close();
});

async function callOn(url: string, tally: Tally): Promise<void> {
  while (tally.going) {
    const answer = await ask(`${url}/v1/capabilities`, bearer(credential(0))).catch(() => undefined);
    if (answer?.status === 200) tally.served += 1;
    else if (answer?.status === 429) {
      if (answer.json().limit === 'quota') tally.refused += 1;
      await pause(20);
    } else tally.unknown += 1;
  }
}

/** Both instances refuse by the quota, without a single call in between. */
async function exhausted(tally: Tally): Promise<boolean> {
  const { served } = tally;
  await pause(LAG_SECONDS * 1000);
  return tally.served === served && tally.refused > 0;
}

describe.each(DATABASE_KINDS.filter(({ name }) => name !== 'libsql'))('Two instances behind nginx on $name', (kind) => {
  const runs = NGINX.available && kind.available;
  const note = runs ? '' : NGINX.note || ' (skipped: its TEST_…_URL is not set)';

  it.skipIf(!runs)(
    `keep to the bound and store what they admitted, through an outage of the database, a SIGTERM and a SIGKILL${note}`,
    async () => {
      const own = {
        TIDB_MCP_DAILY_QUOTA: String(QUOTA),
        TIDB_MCP_TENANT_RPS: String(RATE),
        TIDB_MCP_TENANT_BURST: String(BURST),
        TIDB_MCP_GLOBAL_RPS: '1000000',
        TIDB_MCP_GLOBAL_BURST: '1000000',
        TIDB_MCP_QUOTA_FLUSH_SECONDS: String(INTERVAL_SECONDS),
        TIDB_MCP_SHUTDOWN_GRACE_SECONDS: '1',
      };
      const through = async (url: string): Promise<string> => (proxy = await TcpProxy.forUrl(url)).url(url);
      const here = (deployed = await startDeployment(own, { kind, through }));
      const tally: Tally = { going: true, served: 0, refused: 0, unknown: 0 };
      const callers = Array.from({ length: CALLERS }, () => callOn(here.url, tally));
      await pause(1000);
      proxy!.set('refuse');
      await pause(OUTAGE_SECONDS * 1000);
      proxy!.set('forward');
      await pause(INTERVAL_SECONDS * 1000);
      expect(await here.instances[0].end()).toBe(0);
      await here.restart(0);
      await here.instances[1].end('SIGKILL');
      await here.restart(1);
      while (!(await exhausted(tally)));
      tally.going = false;
      await Promise.all(callers);
      await Promise.all(here.instances.map((instance) => instance.end()));
      const [row] = await here.database.query('SELECT SUM(calls) AS calls FROM quota_usage');
      const stored = Number(row?.['calls']);
      expect(tally.served).toBeGreaterThanOrEqual(QUOTA - tally.unknown);
      expect(tally.served).toBeLessThanOrEqual(QUOTA + BOUND + LOST_AT_MOST);
      expect(stored).toBeLessThanOrEqual(tally.served + tally.unknown);
      expect(stored).toBeGreaterThanOrEqual(tally.served - LOST_AT_MOST);
      console.info(`${kind.name}: served ${tally.served} of ${QUOTA}, stored ${stored}, unknown ${tally.unknown}`);
    },
    180_000,
  );
});
