import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { SandboxOptions } from '../../src/sandbox/sandbox.adapter.js';
import { ConfirmClient } from '../support/confirm-client.js';
import { ManualClock } from '../support/manual-clock.js';
import { ask, callTool, rpc, startTestServer, type TestServer } from '../support/test-server.js';
import { waitUntil } from '../support/wait-until.js';

const ROOMY = { TIDB_MCP_TENANT_RPS: '1000', TIDB_MCP_TENANT_BURST: '1000', TIDB_MCP_UPSTREAM_TIMEOUT_MS: '600' };
const SHARED = 'a-shared-token-of-a-workspace';

let server: TestServer;
let caller: ConfirmClient;

async function start(env: Record<string, string> = {}, sandbox: SandboxOptions = {}) {
  server = await startTestServer({ ...ROOMY, ...env }, sandbox);
  caller = new ConfirmClient(server.url, `${server.sandbox.publicKey}:${server.sandbox.privateKey}`);
}
afterEach(() => server.stop());

const performing = () => server.sandbox.requests.filter(({ method }) => method !== 'GET');
/** Lets looks through and meets the performing request with a fault. */
function onceSent(fault: () => void): void {
  const push = server.sandbox.requests.push.bind(server.sandbox.requests);
  server.sandbox.requests.push = (...logged) => {
    if (logged[0]?.method !== 'GET' && logged[0]?.scheme === 'digest') fault();
    return push(...logged);
  };
}

describe('A confirm whose answer is lost', () => {
  beforeEach(() => start());

  it('has an unknown outcome, is never sent again, and says how to look', async () => {
    const clusterId = await caller.cluster(0);
    const token = await caller.token('delete_cluster', { clusterId });
    onceSent(() => (server.sandbox.hang = true));
    const answer = await caller.confirm(token);
    expect([answer.status, answer.json()]).toMatchObject([
      200,
      {
        outcome: 'unknown',
        operation: 'delete_cluster',
        result: { message: expect.stringContaining('may have') as string, lookWith: { tool: 'tidb_get_cluster' } },
      },
    ]);
    server.sandbox.hang = false;
    const sent = performing().length;
    expect((await caller.confirm(token)).json()).toMatchObject({ code: 'CONFIRM_USED', outcome: 'unknown' });
    expect(performing()).toHaveLength(sent);
  });

  it.each(['reset', 'garbage', 'outage'] as const)('is unknown as well in case of: %s', async (fault) => {
    const token = await caller.token('delete_cluster', { clusterId: await caller.cluster(1) });
    onceSent(() => (server.sandbox[fault] = true));
    expect((await caller.confirm(token)).json()).toMatchObject({ outcome: 'unknown' });
    expect(performing().filter(({ scheme }) => scheme === 'digest')).toHaveLength(1);
  });

  it('is an error to agents, with the outcome in it', async () => {
    const token = await caller.token('delete_cluster', { clusterId: await caller.cluster(2) });
    onceSent(() => (server.sandbox.hang = true));
    const call = callTool('tidb_confirm', { confirmationToken: token });
    const credential = `${server.sandbox.publicKey}:${server.sandbox.privateKey}`;
    const answer = await ask(`${server.url}/mcp`, rpc(call, credential));
    expect(answer.text).toContain('"isError":true');
    expect(answer.text).toContain('"outcome":"unknown"');
  });

  it('can be learnt by whoever lost the answer, though they had left', async () => {
    await server.stop();
    await start({
      TIDB_MCP_UPSTREAM_TIMEOUT_MS: '10000',
      TIDB_MCP_TENANT_BURST: '10000',
      TIDB_MCP_GLOBAL_BURST: '10000',
    });
    const clusterId = await caller.cluster(3);
    const token = await caller.token('delete_cluster', { clusterId });
    const leaving = new AbortController();
    onceSent(() => {
      // Long enough that the second confirm comes before the answer on a busy machine too.
      server.sandbox.slowMs = 1500;
      setTimeout(() => leaving.abort(), 30);
    });
    const credential = `${server.sandbox.publicKey}:${server.sandbox.privateKey}`;
    const left = fetch(`${server.url}/v1/confirm`, {
      method: 'POST',
      signal: leaving.signal,
      headers: { authorization: `Bearer ${credential}`, 'content-type': 'application/json' },
      body: JSON.stringify({ confirmationToken: token }),
    });
    await expect(left).rejects.toThrow();
    expect((await caller.confirm(token)).json()).toMatchObject({ code: 'CONFIRM_USED', outcome: 'pending' });
    server.sandbox.slowMs = 0;
    const earlier = async () => (await caller.confirm(token)).json<{ outcome: string }>().outcome;
    await waitUntil('done', async () => (await earlier()) === 'done');
  });
});

describe('A confirm that surely changed nothing', () => {
  it('because TiDB Cloud could not be reached can be used again', async () => {
    await start();
    const token = await caller.token('delete_cluster', { clusterId: await caller.cluster(0) });
    server.sandbox.outage = true;
    expect((await caller.confirm(token)).json()).toMatchObject({ code: 'UPSTREAM_UNAVAILABLE' });
    server.sandbox.outage = false;
    expect((await caller.confirm(token)).json()).toMatchObject({ outcome: 'done' });
  });

  it("because TiDB Cloud's own limit was met does not consume its token, and works after the wait", async () => {
    const clock = new ManualClock();
    await start({}, { rateLimitPerMinute: 12, clock });
    const clusterId = await caller.cluster(0);
    const token = await caller.token('delete_cluster', { clusterId });
    let answer = await caller.get(`/v1/clusters/${clusterId}`);
    while (answer.status === 200) answer = await caller.get(`/v1/clusters/${clusterId}`);
    const limited = await caller.confirm(token);
    expect([limited.status, limited.json()]).toMatchObject([
      429,
      { limit: 'upstream', code: 'UPSTREAM_RATE_LIMITED', retryAfterSeconds: expect.any(Number) as number },
    ]);
    expect(performing()).toEqual([]);
    const waitMs = limited.json<{ retryAfterSeconds: number }>().retryAfterSeconds * 1000;
    clock.advance(waitMs);
    server.clock.advance(waitMs);
    expect((await caller.confirm(token)).json()).toMatchObject({ outcome: 'done' });
  });

  it('because a limit of this server refused it works after Retry-After', async () => {
    await start({ TIDB_MCP_TENANT_RPS: '1', TIDB_MCP_TENANT_BURST: '4' });
    const token = await caller.token('delete_cluster', { clusterId: await caller.cluster(0) });
    let refused = await caller.get('/v1/capabilities');
    while (refused.status === 200) refused = await caller.get('/v1/capabilities');
    const confirm = await caller.confirm(token);
    expect([confirm.status, confirm.json()]).toMatchObject([429, { limit: 'tenant' }]);
    server.clock.advance(Number(confirm.headers.get('retry-after')) * 1000);
    expect((await caller.confirm(token)).json()).toMatchObject({ outcome: 'done' });
  });

  it('because the key was revoked answers 401 and is used', async () => {
    await start();
    const token = await caller.token('delete_cluster', { clusterId: await caller.cluster(0) });
    onceSent(() => server.sandbox.rejectKey(server.sandbox.publicKey));
    server.sandbox.forgetNonces();
    const answer = await caller.confirm(token);
    expect([answer.status, answer.json()]).toMatchObject([401, { code: 'UNAUTHENTICATED' }]);
    server.sandbox.acceptKey(server.sandbox.publicKey);
    expect((await caller.confirm(token)).json()).toMatchObject({ code: 'CONFIRM_USED', outcome: 'refused_upstream' });
  });
});

describe('Under a shared token', () => {
  const startShared = () =>
    start({
      TIDB_MCP_V1_TOKENS: SHARED,
      TIDB_CLOUD_PUBLIC_KEY: 'SANDBOX1',
      TIDB_CLOUD_PRIVATE_KEY: '5f0c7c8e-2d11-4b0f-9f3e-6a1f0e3b7d42',
      TIDB_MCP_CLIENT_IP_HEADER: 'x-real-ip',
    });

  it('a confirmation is bound to the token and not to the address', async () => {
    await startShared();
    const here = new ConfirmClient(server.url, SHARED, { 'x-real-ip': '198.51.100.1' });
    const there = new ConfirmClient(server.url, SHARED, { 'x-real-ip': '203.0.113.9' });
    const token = await here.token('delete_cluster', { clusterId: await here.cluster(0) });
    expect((await caller.confirm(token)).json()).toMatchObject({ code: 'CONFIRM_UNKNOWN' });
    expect((await there.confirm(token)).json()).toMatchObject({ outcome: 'done' });
  });
});

describe('A server in read-only mode', () => {
  beforeEach(() => start({ TIDB_MCP_READ_ONLY: 'true' }));

  it('refuses both steps by name on both surfaces, whatever their input, and asks nothing of TiDB Cloud', async () => {
    await caller.get('/v1/capabilities');
    server.sandbox.requests.length = 0;
    const credential = `${server.sandbox.publicKey}:${server.sandbox.privateKey}`;
    const calls: [string, Record<string, unknown>][] = [
      ['preflight', { operation: 'delete_cluster', arguments: { clusterId: '1' } }],
      ['preflight', {}],
      ['confirm', { confirmationToken: 'A'.repeat(43) }],
      ['confirm', {}],
    ];
    for (const [name, input] of calls) {
      const answer = await caller.post(`/v1/${name}`, input);
      expect([answer.status, answer.json()]).toMatchObject([403, { code: 'READ_ONLY' }]);
      const tool = await ask(`${server.url}/mcp`, rpc(callTool(`tidb_${name}`, input), credential));
      expect(tool.text).toContain('"isError":true');
      expect(tool.text).toContain('"code":"READ_ONLY"');
    }
    expect(server.sandbox.requests).toEqual([]);
  });

  it('does not list the tools, and offers no change', async () => {
    const credential = `${server.sandbox.publicKey}:${server.sandbox.privateKey}`;
    const list = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} };
    const { text } = await ask(`${server.url}/mcp`, rpc(list, credential));
    expect(text).toContain('tidb_list_backups');
    expect(text).not.toMatch(/tidb_preflight|tidb_confirm/);
  });
});
