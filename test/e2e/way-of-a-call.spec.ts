import { afterEach, describe, expect, it } from 'vitest';
import { ask, bearer, callTool, rpc, startTestServer, type TestServer } from '../support/test-server.js';

let server: TestServer;
afterEach(() => server.stop());

const key = (): string => `${server.sandbox.publicKey}:${server.sandbox.privateKey}`;
const validations = (): number => new Set(server.sandbox.requests.map(({ publicKey }) => publicKey)).size;

async function statuses(count: number, make: (i: number) => [string, RequestInit]): Promise<number[]> {
  const all: number[] = [];
  for (let i = 0; i < count; i += 1) all.push((await ask(...make(i))).status);
  return all;
}
const tally = (all: number[], status: number): number => all.filter((one) => one === status).length;

describe('A fresh key', () => {
  it('pays its first call at the door, has a burst of twenty, and then one call for each 0.2 s', async () => {
    server = await startTestServer();
    const make = (): [string, RequestInit] => [`${server.url}/v1/capabilities`, bearer(key())];
    const all = await statuses(40, make);
    expect([tally(all, 200), tally(all, 429)]).toEqual([21, 19]);
    expect(all.slice(0, 21)).toEqual(Array.from({ length: 21 }, () => 200));
    server.clock.advance(600);
    expect(tally(await statuses(10, make), 200)).toBe(3);
  });

  it('has one bucket on /mcp and /v1 together, however it is presented', async () => {
    server = await startTestServer();
    const basic = { headers: { authorization: `basic   ${Buffer.from(key()).toString('base64')}` } };
    const all = await statuses(60, (i) => {
      if (i % 3 === 0) return [`${server.url}/v1/capabilities`, basic];
      if (i % 3 === 1) return [`${server.url}/mcp`, rpc(callTool('tidb_capabilities'), key())];
      return [`${server.url}/v1/capabilities`, bearer(key())];
    });
    expect(tally(all, 200)).toBe(21);
  });

  it('gets a tenant refusal with the right bytes on both surfaces', async () => {
    server = await startTestServer();
    await statuses(21, () => [`${server.url}/v1/capabilities`, bearer(key())]);
    const onMcp = await ask(`${server.url}/mcp`, rpc(callTool('tidb_capabilities'), key()));
    expect(onMcp.status).toBe(429);
    expect(onMcp.headers.get('retry-after')).toBe('1');
    expect(onMcp.headers.get('cache-control')).toBe('no-store');
    expect(onMcp.json()).toMatchObject({
      jsonrpc: '2.0',
      id: null,
      error: { code: -32002, data: { limit: 'tenant', code: 'TENANT_RATE_LIMITED', retryAfterSeconds: 1 } },
    });
    const modern = await ask(
      `${server.url}/mcp`,
      rpc(callTool('tidb_capabilities'), key(), { 'mcp-protocol-version': '2026-07-28' }),
    );
    expect(modern.json()).toMatchObject({ error: { code: 429 } });
    expect(modern.json()).not.toHaveProperty('id');
    const onV1 = await ask(`${server.url}/v1/capabilities`, bearer(key()));
    expect(onV1.headers.get('content-type')).toBe('application/problem+json');
    expect(onV1.json()).toMatchObject({
      status: 429,
      limit: 'tenant',
      code: 'TENANT_RATE_LIMITED',
      retryAfterSeconds: 1,
    });
  });

  it('is served again after it waited as long as it was told', async () => {
    server = await startTestServer({ TIDB_MCP_TENANT_RPS: '0.3', TIDB_MCP_TENANT_BURST: '2' });
    await statuses(4, () => [`${server.url}/v1/capabilities`, bearer(key())]);
    const refused = await ask(`${server.url}/v1/capabilities`, bearer(key()));
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '4']);
    server.clock.advance(4000);
    expect((await ask(`${server.url}/v1/capabilities`, bearer(key()))).status).toBe(200);
  });
});

describe('A scanner', () => {
  it('that rotates a fake key per request causes five validations, and one more a second', async () => {
    server = await startTestServer();
    const make = (i: number): [string, RequestInit] => [`${server.url}/v1/clusters`, bearer(`fake${i}:secret${i}`)];
    const all = await statuses(40, make);
    expect([tally(all, 401), tally(all, 429)]).toEqual([5, 35]);
    expect(validations() - 1).toBeLessThanOrEqual(5);
    const before = server.sandbox.requests.length;
    server.clock.advance(1000);
    expect(tally(await statuses(20, (i) => make(100 + i)), 401)).toBe(1);
    expect(server.sandbox.requests.length - before).toBeLessThanOrEqual(2);
  });

  it('is refused without anything being asked upstream, credential or not', async () => {
    server = await startTestServer();
    await statuses(5, () => [`${server.url}/v1/clusters`, {}]);
    expect(server.sandbox.requests).toHaveLength(0);
    const refused = await ask(`${server.url}/v1/clusters`, bearer('a:b'));
    expect([refused.status, refused.json().limit]).toEqual([429, 'preauth']);
    expect(server.sandbox.requests).toHaveLength(0);
  });

  it('can not take a proven tenant along', async () => {
    server = await startTestServer();
    await ask(`${server.url}/v1/capabilities`, bearer(key()));
    await statuses(50, (i) => [`${server.url}/v1/clusters`, bearer(`fake${i}:x`)]);
    expect((await ask(`${server.url}/v1/capabilities`, bearer(key()))).status).toBe(200);
  });
});

describe('The daily quota', () => {
  it('refuses with the seconds to UTC midnight, and a refusal counts for nothing', async () => {
    server = await startTestServer({ TIDB_MCP_DAILY_QUOTA: '3' });
    const make = (): [string, RequestInit] => [`${server.url}/v1/capabilities`, bearer(key())];
    expect(await statuses(5, make)).toEqual([200, 200, 200, 429, 429]);
    const refused = await ask(...make());
    expect(refused.json()).toMatchObject({ limit: 'quota', code: 'TENANT_QUOTA_EXHAUSTED' });
    expect(Number(refused.headers.get('retry-after'))).toBe(12 * 3600);
    server.clock.advance(12 * 3_600_000);
    const next = await ask(...make());
    expect(next.json().limits.quota).toMatchObject({ used: 1, remaining: 2 });
  });

  it('refuses a credential that proves itself when its day is used up already, and proves it all the same', async () => {
    server = await startTestServer({ TIDB_MCP_DAILY_QUOTA: '1', TIDB_MCP_PROVEN_TTL_SECONDS: '60' });
    expect((await ask(`${server.url}/v1/capabilities`, bearer(key()))).status).toBe(200);
    server.clock.advance(60_000);
    const before = server.sandbox.requests.length;
    const refused = await ask(`${server.url}/v1/regions`, bearer(key()));
    expect([refused.status, refused.json().limit]).toEqual([429, 'quota']);
    expect(refused.headers.get('ratelimit')).toMatch(/^"tenant";r=\d+;t=\d+, "quota";r=0;t=\d+$/);
    expect(server.sandbox.requests.slice(before).every(({ path }) => path.endsWith('/clusters'))).toBe(true);
    const again = await ask(`${server.url}/v1/regions`, bearer(key()));
    expect(again.json().limit).toBe('quota');
    expect(server.sandbox.requests.slice(before).length).toBeLessThanOrEqual(2);
  });
});

describe('A shared token of /v1', () => {
  const token = 'shared-token-of-the-workspace';
  const shared = (address: string) => ({
    headers: { authorization: `Bearer ${token}`, 'x-forwarded-for': `6.6.6.6, ${address}` },
  });
  const start = async (env: Record<string, string> = {}) => {
    server = await startTestServer({
      TIDB_MCP_V1_TOKENS: token,
      TIDB_CLOUD_PUBLIC_KEY: 'PLACEHOLDER',
      TIDB_CLOUD_PRIVATE_KEY: 'PLACEHOLDER',
      TIDB_MCP_TRUSTED_PROXY_DEPTH: '1',
      ...env,
    });
  };

  it('proves itself and keeps a bucket of its own per address', async () => {
    await start();
    for (const address of ['1.1.1.1', '2.2.2.2']) {
      const all = await statuses(40, () => [`${server.url}/v1/capabilities`, shared(address)]);
      expect([address, tally(all, 200)]).toEqual([address, 21]);
    }
  });

  it('is no credential elsewhere and never goes upstream', async () => {
    await start();
    expect((await ask(`${server.url}/mcp`, rpc(callTool('tidb_list_clusters'), token))).status).toBe(401);
    expect(server.sandbox.requests).toHaveLength(0);
  });

  it('is not forgotten when TiDB Cloud rejects the key of the server', async () => {
    await start();
    const rejected = await ask(`${server.url}/v1/regions`, shared('1.1.1.1'));
    expect([rejected.status, rejected.json().code]).toEqual([502, 'SERVER_KEY_REJECTED']);
    const all = await statuses(30, () => [`${server.url}/v1/capabilities`, shared('1.1.1.1')]);
    expect(tally(all, 200)).toBe(20);
  });
});
