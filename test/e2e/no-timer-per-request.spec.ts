import { Agent, get } from 'node:http';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { bearer, startTestServer, type TestServer } from '../support/test-server.js';

const REQUESTS = 200;

/** One call without a timer of its own, which fetch has. */
function statusOf(url: string, agent: Agent, headers: Record<string, string>): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const answered = get(url, { agent, headers }, (answer) => {
      answer.resume().on('end', () => resolve(answer.statusCode));
    });
    answered.on('error', reject);
  });
}

describe('A request', () => {
  let server: TestServer;
  let agent: Agent;
  beforeEach(async () => {
    agent = new Agent({ keepAlive: true, maxSockets: 1 });
    server = await startTestServer({ TIDB_MCP_TENANT_BURST: String(REQUESTS), TIDB_MCP_GLOBAL_BURST: '1000' });
  });
  afterEach(async () => {
    vi.restoreAllMocks();
    agent.destroy();
    await server.stop();
  });

  it.each([
    ['admitted', 200],
    ['refused', 429],
  ])('that is %s sets no timer that would hold what it was until it fires', async (_, status) => {
    const { publicKey, privateKey } = server.sandbox;
    const { headers } = status === 200 ? bearer(`${publicKey}:${privateKey}`) : { headers: {} };
    const call = () => statusOf(`${server.url}/v1/capabilities`, agent, headers);
    for (let i = 0; i < 6; i += 1) await call();
    const timers = [vi.spyOn(globalThis, 'setTimeout'), vi.spyOn(globalThis, 'setInterval')];
    for (let i = 6; i < REQUESTS; i += 1) expect(await call()).toBe(status);
    // A few belong to the server as a whole, such as the one that ends a second of telemetry.
    expect(timers.flatMap(({ mock }) => mock.calls).length).toBeLessThan(REQUESTS / 10);
  });
});
