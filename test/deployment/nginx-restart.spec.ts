import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ask, bearer, rpc } from '../support/test-server.js';
import { waitUntil } from '../support/wait-until.js';
import { credential, type Deployment, DEPLOYABLE, startDeployment } from './deployment.js';

describe.skipIf(!DEPLOYABLE.available)(
  `an operator who restarts one instance after the other behind nginx${DEPLOYABLE.note}`,
  () => {
    let deployed: Deployment;

    beforeAll(async () => {
      const plenty = '1000000';
      deployed = await startDeployment({
        TIDB_MCP_DAILY_QUOTA: plenty,
        TIDB_MCP_TENANT_RPS: plenty,
        TIDB_MCP_TENANT_BURST: plenty,
        TIDB_MCP_GLOBAL_RPS: plenty,
        TIDB_MCP_GLOBAL_BURST: plenty,
      });
    }, 90_000);
    afterAll(() => deployed?.stop(), 60_000);

    /** Calls without a pause on either surface, until told to stop; what was not a 200 is kept. */
    async function callOn(state: { going: boolean; calls: number; lost: string[] }, rest: boolean): Promise<void> {
      const init = rest ? bearer(credential(0)) : rpc({ jsonrpc: '2.0', id: 1, method: 'tools/list' }, credential(0));
      while (state.going) {
        const answer = await ask(`${deployed.url}${rest ? '/v1/capabilities' : '/mcp'}`, init).catch(String);
        state.calls += 1;
        if (typeof answer === 'string') state.lost.push(answer);
        else if (answer.status !== 200) state.lost.push(`${answer.status} ${answer.text.slice(0, 300)}`);
      }
    }

    it('loses no call and no count', async () => {
      const state = { going: true, calls: 0, lost: [] as string[] };
      const callers = [true, false, true, false, true, false].map((rest) => callOn(state, rest));
      for (const index of [0, 1] as const) {
        expect(await deployed.instances[index].end()).toBe(0);
        const { calls } = state;
        await waitUntil('the other one serves', () => state.calls > calls + 100);
        await deployed.restart(index);
      }
      state.going = false;
      await Promise.all(callers);
      expect(
        state.lost,
        deployed.nginx
          .log()
          .match(/^.*\[error\].*$/gm)
          ?.slice(-5)
          .join('\n'),
      ).toEqual([]);
      expect(state.calls).toBeGreaterThan(500);
      await Promise.all(deployed.instances.map((instance) => instance.end()));
      const [row] = await deployed.database.query('SELECT SUM(calls) AS calls FROM quota_usage');
      expect(Number(row?.['calls'])).toBe(state.calls);
    }, 120_000);
  },
);
