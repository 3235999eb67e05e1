import { afterEach, describe, expect, it } from 'vitest';
import { parseConfig } from '../../src/config/parse-config.js';
import type { Sandbox } from '../../src/sandbox/sandbox.adapter.js';
import { ask, bearer, callTool, rpc, startTestServer, type TestServer } from '../support/test-server.js';

/**
 * The user's page, paragraph by paragraph: what each promises, seen from outside of a running server. Where a sentence
 * needs a database server, a real process or a browser, the suite that has one holds it.
 */

const servers: TestServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0).toReversed()) await server.stop();
});

async function start(env: Record<string, string> = {}, sandbox?: Sandbox): Promise<TestServer> {
  const server = await startTestServer(env, {}, sandbox);
  servers.push(server);
  return server;
}
const keyOf = ({ sandbox }: TestServer): string => `${sandbox.publicKey}:${sandbox.privateKey}`;
const from = (address: string, credential?: string): RequestInit => ({
  headers: { 'x-forwarded-for': address, ...(credential === undefined ? {} : bearer(credential).headers) },
});
const limits = async (server: TestServer, init: RequestInit) =>
  (await ask(`${server.url}/v1/capabilities`, init)).json().limits;

/** How many of so many requests are served (neither refused nor unauthenticated), one after the other. */
async function served(
  server: TestServer,
  count: number,
  init: RequestInit,
  path = '/v1/capabilities',
): Promise<number> {
  let ok = 0;
  for (let i = 0; i < count; i += 1) if ((await ask(server.url + path, init)).status === 200) ok += 1;
  return ok;
}

/** The limits that refused so many requests, in order, null where none did. */
async function refusedBy(
  server: TestServer,
  count: number,
  make: (i: number) => RequestInit,
): Promise<(string | null)[]> {
  const all: (string | null)[] = [];
  for (let i = 0; i < count; i += 1) {
    const answer = await ask(`${server.url}/v1/clusters`, make(i));
    all.push(answer.status === 429 ? answer.json().limit : null);
  }
  return all;
}
const snapshot = async (server: TestServer) =>
  (await ask(`${server.url}/metrics`, { headers: { accept: 'application/json' } })).json();

describe('The four layers', () => {
  it('have the defaults of the table, and say so', async () => {
    const server = await start();
    expect(await limits(server, bearer(keyOf(server)))).toMatchObject({
      preauth: { requestsPerSecond: 1, burst: 5, keyedBy: 'client-ip', scope: 'instance' },
      tenant: { requestsPerSecond: 5, burst: 20, keyedBy: 'credential', scope: 'instance' },
      quota: { callsPerUtcDay: 5000, keyedBy: 'credential', scope: 'shared', flushIntervalSeconds: 30 },
      global: { requestsPerSecond: 100, burst: 200, keyedBy: 'instance', scope: 'instance' },
    });
  });

  it('are each configurable by the environment', async () => {
    const server = await start({
      TIDB_MCP_PREAUTH_RPS: '0.5',
      TIDB_MCP_PREAUTH_BURST: '2',
      TIDB_MCP_TENANT_RPS: '7',
      TIDB_MCP_TENANT_BURST: '8',
      TIDB_MCP_DAILY_QUOTA: '9',
      TIDB_MCP_GLOBAL_RPS: '10',
      TIDB_MCP_GLOBAL_BURST: '11',
    });
    expect(await limits(server, bearer(keyOf(server)))).toMatchObject({
      preauth: { requestsPerSecond: 0.5, burst: 2 },
      tenant: { requestsPerSecond: 7, burst: 8 },
      quota: { callsPerUtcDay: 9 },
      global: { requestsPerSecond: 10, burst: 11 },
    });
  });

  it('let a credential earn a tenant bucket by being accepted, never by being presented', async () => {
    const server = await start();
    const fakes = await refusedBy(server, 30, (i) => bearer(`fake${i}:x`));
    expect(fakes.filter((limit) => limit === 'preauth')).toHaveLength(25);
    server.clock.advance(1000);
    expect(await served(server, 30, bearer(keyOf(server)))).toBe(21);
  });

  it('take the first request of a new tenant from the budget of its address', async () => {
    const server = await start();
    await refusedBy(server, 5, () => ({}));
    expect((await ask(`${server.url}/v1/capabilities`, bearer(keyOf(server)))).json().limit).toBe('preauth');
    server.clock.advance(1000);
    expect(await served(server, 1, bearer(keyOf(server)))).toBe(1);
    expect((await ask(`${server.url}/v1/clusters`)).json().limit).toBe('preauth');
  });

  it('refuse an unproven request before anything validates a credential or calls upstream', async () => {
    const server = await start();
    await refusedBy(server, 5, () => ({}));
    await refusedBy(server, 50, (i) => bearer(`fake${i}:x`));
    expect(server.sandbox.requests).toEqual([]);
  });

  it('ask the tenant before the instance, so that one noisy tenant leaves the others their capacity', async () => {
    const server = await start({ TIDB_MCP_GLOBAL_RPS: '1', TIDB_MCP_GLOBAL_BURST: '40' });
    const noisy = await refusedBy(server, 200, () => bearer(keyOf(server)));
    expect(new Set(noisy)).toEqual(new Set([null, 'tenant']));
    const other = server.sandbox.token!;
    expect(await refusedBy(server, 10, () => bearer(other))).toEqual(Array.from({ length: 10 }, () => null));
  });
});

describe('The client address', () => {
  it('is not the first entry of X-Forwarded-For: rotating it buys nothing, and asserting a victim costs it nothing', async () => {
    const server = await start({ TIDB_MCP_TRUSTED_PROXY_DEPTH: '1' });
    const scanner = await refusedBy(server, 20, (i) => from(`9.9.9.${i}, 6.6.6.6`));
    expect(scanner.filter((limit) => limit === 'preauth')).toHaveLength(15);
    await refusedBy(server, 20, () => from('7.7.7.7, 6.6.6.6'));
    expect(await refusedBy(server, 5, () => from('7.7.7.7'))).toEqual([null, null, null, null, null]);
  });

  it('is read from a header that the proxy sets, where one is declared', async () => {
    const server = await start({ TIDB_MCP_CLIENT_IP_HEADER: 'fly-client-ip' });
    const by = (address: string) => ({ headers: { 'fly-client-ip': address, 'x-forwarded-for': '1.1.1.1' } });
    expect(await refusedBy(server, 6, () => by('2.2.2.2'))).toEqual([null, null, null, null, null, 'preauth']);
    expect(await refusedBy(server, 1, () => by('3.3.3.3'))).toEqual([null]);
  });

  it('is that of the connection, and every header is ignored, where nothing is declared', async () => {
    const server = await start();
    const claims = (i: number) => ({
      headers: { 'x-forwarded-for': `1.1.1.${i}`, 'fly-client-ip': `1.1.1.${i}`, forwarded: `for=1.1.1.${i}` },
    });
    expect((await refusedBy(server, 20, claims)).filter((limit) => limit === 'preauth')).toHaveLength(15);
    const parsed = parseConfig({});
    expect(parsed.warnings.join()).toMatch(/TIDB_MCP_CLIENT_IP_HEADER.*TIDB_MCP_TRUSTED_PROXY_DEPTH/);
  });

  it('of a gateway has a much larger proving budget, and never an exemption', async () => {
    const server = await start({ TIDB_MCP_TRUSTED_PROXY_DEPTH: '1', TIDB_MCP_GATEWAY_IPS: '9.9.9.0/24' });
    const gateway = await refusedBy(server, 120, (i) => from('9.9.9.9', `fake${i}:x`));
    expect(gateway.filter((limit) => limit === null)).toHaveLength(100);
    expect(gateway.at(-1)).toBe('preauth');
  });
});

describe('A refusal', () => {
  it('is a 429 with Retry-After in seconds, and a JSON-RPC error written for an agent to act on', async () => {
    const server = await start();
    await served(server, 21, bearer(keyOf(server)));
    const answer = await ask(`${server.url}/mcp`, rpc(callTool('tidb_capabilities'), keyOf(server)));
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([429, '1']);
    expect(answer.json()).toEqual({
      jsonrpc: '2.0',
      error: {
        code: -32002,
        message: expect.stringMatching(
          /^Rate limited: this API key exceeded its per-second request limit\. Retry in 1s\. /,
        ),
        data: { limit: 'tenant', code: 'TENANT_RATE_LIMITED', retryAfterSeconds: 1 },
      },
      id: null,
    });
  });

  it('by the quota says to stop retrying and report it, and lasts until the next UTC midnight', async () => {
    const server = await start({ TIDB_MCP_DAILY_QUOTA: '1' });
    await served(server, 1, bearer(keyOf(server)));
    server.clock.advance(3 * 3_600_000 + 500);
    const answer = await ask(`${server.url}/v1/clusters`, bearer(keyOf(server)));
    expect(answer.json()).toMatchObject({
      limit: 'quota',
      code: 'TENANT_QUOTA_EXHAUSTED',
      retryAfterSeconds: 9 * 3600,
    });
    expect(answer.json().detail).toMatch(/^Quota exhausted: .*Stop retrying.*Report/);
    server.clock.advance(9 * 3_600_000);
    expect(await served(server, 1, bearer(keyOf(server)))).toBe(1);
  });
});

describe('Where the numbers are approximate', () => {
  it('rate limits are per instance: two admit twice as much', async () => {
    const one = await start();
    const two = await start({}, one.sandbox);
    expect(await served(one, 30, bearer(keyOf(one)))).toBe(21);
    expect(await served(two, 30, bearer(keyOf(one)))).toBe(21);
  });

  it('quotas keep working in memory while the control database is unreachable, and the flag says so', async () => {
    const server = await start({
      TIDB_MCP_CONTROL_DB_URL: 'mysql://nobody@127.0.0.1:1/none',
      TIDB_MCP_DAILY_QUOTA: '3',
    });
    expect((await limits(server, bearer(keyOf(server)))).quota).toMatchObject({ used: 1, persistenceDegraded: true });
    expect(await served(server, 5, bearer(keyOf(server)))).toBe(2);
    const ready = await ask(`${server.url}/health/ready`);
    expect([ready.status, ready.json().details.controlDatabase.degraded]).toEqual([200, true]);
  });

  it('a credential is forgotten when the upstream rejects it, and falls back to the anonymous rate', async () => {
    const server = await start();
    await served(server, 1, bearer(keyOf(server)));
    server.sandbox.rejectKey(server.sandbox.publicKey);
    expect((await ask(`${server.url}/v1/clusters`, bearer(keyOf(server)))).status).toBe(401);
    expect((await snapshot(server)).provenCredentials).toBe(0);
    const later = await refusedBy(server, 10, () => bearer(keyOf(server)));
    expect(later.filter((limit) => limit === 'preauth').length).toBeGreaterThanOrEqual(5);
  });

  it('a proof expires 24 hours after it was last used', async () => {
    const server = await start();
    await served(server, 1, bearer(keyOf(server)));
    server.clock.advance(23 * 3_600_000);
    await served(server, 1, bearer(keyOf(server)));
    server.clock.advance(24 * 3_600_000 - 1);
    await refusedBy(server, 5, () => ({}));
    expect(await served(server, 1, bearer(keyOf(server)))).toBe(1);
    server.clock.advance(24 * 3_600_000);
    await refusedBy(server, 5, () => ({}));
    expect((await ask(`${server.url}/v1/clusters`, bearer(keyOf(server)))).json().limit).toBe('preauth');
  });

  it('the least recently used credential goes when there are more than the cap', async () => {
    const server = await start({ TIDB_MCP_PROVEN_MAX: '1' });
    await served(server, 1, bearer(keyOf(server)));
    await served(server, 1, bearer(server.sandbox.token!));
    expect((await snapshot(server)).provenCredentials).toBe(1);
    await refusedBy(server, 5, () => ({}));
    expect((await ask(`${server.url}/v1/clusters`, bearer(keyOf(server)))).json().limit).toBe('preauth');
  });

  it.each(['outage', 'reset', 'garbage'] as const)(
    'nothing but a rejection forgets a credential: %s',
    async (fault) => {
      const server = await start();
      await served(server, 1, bearer(keyOf(server)));
      server.clock.advance(1800_000);
      server.sandbox[fault] = true;
      const answer = await ask(`${server.url}/v1/clusters`, bearer(keyOf(server)));
      expect([answer.status, answer.json().code]).toEqual([503, 'UPSTREAM_UNAVAILABLE']);
      expect((await snapshot(server)).provenCredentials).toBe(1);
      server.sandbox[fault] = false;
      expect(await served(server, 30, bearer(keyOf(server)))).toBe(19);
    },
  );

  it('a revocation is noticed when the credential is revalidated, after 30 idle minutes and not before', async () => {
    const server = await start();
    await served(server, 1, bearer(keyOf(server)));
    server.sandbox.rejectKey(server.sandbox.publicKey);
    for (let i = 0; i < 5; i += 1) {
      server.clock.advance(1799_000);
      expect(await served(server, 1, bearer(keyOf(server)))).toBe(1);
    }
    server.clock.advance(1800_000);
    expect((await ask(`${server.url}/v1/capabilities`, bearer(keyOf(server)))).status).toBe(401);
  });

  it('a maximum age, where one is set, revalidates a credential however busy it is', async () => {
    const server = await start({ TIDB_MCP_CONTEXT_MAX_AGE_SECONDS: '60' });
    await served(server, 1, bearer(keyOf(server)));
    server.sandbox.rejectKey(server.sandbox.publicKey);
    server.clock.advance(59_000);
    expect(await served(server, 1, bearer(keyOf(server)))).toBe(1);
    server.clock.advance(61_000);
    expect((await ask(`${server.url}/v1/capabilities`, bearer(keyOf(server)))).status).toBe(401);
  });

  it('the known-good set is held in memory, so a deploy makes every tenant prove itself again, at one request', async () => {
    const before = await start();
    await served(before, 1, bearer(keyOf(before)));
    const after = await start({}, before.sandbox);
    expect((await snapshot(after)).provenCredentials).toBe(0);
    expect(await served(after, 30, bearer(keyOf(before)))).toBe(21);
  });

  it('an OAuth token that rotates is a new credential and pays the proving cost again', async () => {
    const server = await start();
    await served(server, 25, bearer(server.sandbox.token!));
    expect((await ask(`${server.url}/v1/capabilities`, bearer(keyOf(server)))).status).toBe(200);
    expect((await snapshot(server)).auth.accepted).toBe(2);
  });
});

describe('The division of labor', () => {
  it('is that tenants behind one address are told apart here, where the credential is visible', async () => {
    const server = await start({ TIDB_MCP_TRUSTED_PROXY_DEPTH: '1' });
    expect(await served(server, 40, from('9.9.9.9', keyOf(server)))).toBe(21);
    expect(await served(server, 40, from('9.9.9.9', server.sandbox.token))).toBe(21);
  });
});

describe('The /v1 surface', () => {
  it('has the same token bucket and the same global ceiling as /mcp', async () => {
    const server = await start({ TIDB_MCP_GLOBAL_RPS: '0.001', TIDB_MCP_GLOBAL_BURST: '10' });
    for (let i = 0; i < 5; i += 1) await ask(`${server.url}/mcp`, rpc(callTool('tidb_capabilities'), keyOf(server)));
    expect(await served(server, 30, bearer(keyOf(server)))).toBe(5);
    expect((await ask(`${server.url}/v1/capabilities`, bearer(keyOf(server)))).json().limit).toBe('global');
  });

  it('consults the very key that authenticated: what proves itself there leaves the anonymous budget', async () => {
    const token = 'shared-token-of-the-workspace';
    const server = await start({
      TIDB_MCP_V1_TOKENS: token,
      TIDB_CLOUD_PUBLIC_KEY: 'server',
      TIDB_CLOUD_PRIVATE_KEY: 'server-secret',
      TIDB_MCP_TRUSTED_PROXY_DEPTH: '1',
    });
    expect(await served(server, 40, from('1.1.1.1', token))).toBe(21);
    expect(await served(server, 40, from('2.2.2.2', token))).toBe(21);
    server.clock.advance(1000);
    expect(await served(server, 40, from('1.1.1.1', token))).toBe(5);
  });
});

describe('Observability', () => {
  it('counts refusals exactly per layer', async () => {
    const server = await start({ TIDB_MCP_DAILY_QUOTA: '10' });
    await served(server, 13, bearer(keyOf(server)));
    await refusedBy(server, 12, () => ({}));
    server.clock.advance(1001);
    expect((await snapshot(server)).refusals).toEqual({ preauth: 8, tenant: 0, quota: 3, global: 0 });
    const text = (await ask(`${server.url}/metrics`)).text;
    expect(text).toMatch(/tidb_mcp_refusals_total\{limit="preauth",surface="v1"\} 8/);
  });
});
