import { afterEach, describe, expect, it } from 'vitest';
import { type Connected, connect, SDK_CLIENTS, type SdkClient } from '../support/sdk-clients.js';
import { ask, rpc, startTestServer, type TestServer } from '../support/test-server.js';

/** Default limits in front of a proxy, so that each test picks the address that its clients come from. */
const BEHIND_A_PROXY = { TIDB_MCP_TRUSTED_PROXY_DEPTH: '1' };
const KEYS = Array.from({ length: 6 }, (_, index) => ({ publicKey: `FRESH${index}`, privateKey: `private-${index}` }));
const KINDS = Object.entries(SDK_CLIENTS) as [SdkClient, string][];

let server: TestServer;
const clients: Connected[] = [];
afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.close()));
  await server.stop();
});

const headersOf = (address: string, key?: number): Record<string, string> => ({
  'x-forwarded-for': address,
  ...(key === undefined ? {} : { authorization: `Bearer FRESH${key}:private-${key}` }),
});

async function start(env: Record<string, string> = {}): Promise<void> {
  server = await startTestServer({ ...BEHIND_A_PROXY, ...env }, { keys: KEYS });
}

async function connectFrom(kind: SdkClient, address: string, key?: number): Promise<Connected> {
  const client = await connect(kind, server.url, headersOf(address, key));
  clients.push(client);
  return client;
}

/** Everything a client does before its agent has asked for anything; the newest revision has no ping. */
async function handshake(kind: SdkClient, address: string, key: number): Promise<Connected> {
  const client = await connectFrom(kind, address, key);
  expect(client.failure).toBeUndefined();
  expect(await client.listTools()).toBe(10);
  if (SDK_CLIENTS[kind] !== '2026-07-28') await client.ping();
  return client;
}

/** How many requests without a credential an address still gets through at this instant. */
async function leftOf(address: string): Promise<number> {
  for (let passed = 0; ; passed += 1) {
    const { status } = await ask(`${server.url}/nothing`, { headers: { 'x-forwarded-for': address } });
    if (status === 429) return passed;
  }
}

describe('A client that connects for the first time, with a key that is good', () => {
  it.each(KINDS)('meets no refusal, and pays one token at the door of its address: %s', async (kind, revision) => {
    await start();
    const { exchanges } = await handshake(kind, '198.51.100.1', 0);
    expect(exchanges.filter(({ status }) => status === 429)).toEqual([]);
    const spent = revision === '2026-07-28' ? { tenant: 1, calls: 2 } : { tenant: 4, calls: 4 };
    expect(exchanges.at(-1)!.rateLimit).toMatch(new RegExp(`r=${20 - spent.tenant};.*r=${5000 - spent.calls};`));
    expect(await leftOf('198.51.100.1')).toBe(4);
  });

  it('has three more of its kind beside it at the same instant, all with one key', async () => {
    await start();
    for (const kind of ['SDK v1', 'SDK v2, as it is by default', 'SDK v1', 'SDK v2, as it is by default'] as const) {
      await handshake(kind, '198.51.100.1', 0);
    }
  });

  it('has four more beside it at the same address, each with a key of its own', async () => {
    await start();
    for (const [key, [kind]] of [...KINDS, ...KINDS].slice(0, 5).entries()) await handshake(kind, '198.51.100.1', key);
    const sixth = await connectFrom('SDK v1', '198.51.100.1', 5);
    expect(sixth.failure).toMatch(/Retry in 1s/);
    server.clock.advance(1000);
    await handshake('SDK v1', '198.51.100.1', 5);
  });
});

describe('A client that is refused as it connects', () => {
  const refused = async (kind: SdkClient): Promise<string> => {
    const { failure, exchanges } = await connectFrom(kind, '198.51.100.1', 0);
    expect(exchanges.every(({ status }) => status === 429)).toBe(true);
    return failure ?? 'connected';
  };

  it.each(KINDS)('shows its user what the address has to wait: %s', async (kind) => {
    await start({ TIDB_MCP_PREAUTH_RPS: '0.25' });
    await leftOf('198.51.100.1');
    const text = await refused(kind);
    expect(text).toMatch(/Rate limited: requests from this address without an API key .* Retry in 4s/);
  });

  it.each(KINDS)('shows its user what the key has to wait: %s', async (kind) => {
    await start({ TIDB_MCP_TENANT_RPS: '0.25', TIDB_MCP_TENANT_BURST: '1' });
    const headers = headersOf('198.51.100.2', 0);
    for (let i = 0; i < 2; i += 1) await ask(`${server.url}/v1/capabilities`, { headers });
    const text = await refused(kind);
    expect(text).toMatch(/Rate limited: this API key exceeded its per-second request limit. Retry in 4s/);
  });

  it.each(KINDS)('shows its user that the day is used up, and how long it lasts: %s', async (kind) => {
    await start({ TIDB_MCP_DAILY_QUOTA: '1' });
    await ask(`${server.url}/v1/capabilities`, { headers: headersOf('198.51.100.2', 0) });
    const text = await refused(kind);
    expect(text).toMatch(/Quota exhausted: .*Stop retrying with this key.*UTC midnight \(in 43200s\)/);
  });

  it.each(KINDS)('shows its user that the server is busy: %s', async (kind) => {
    await start({ TIDB_MCP_GLOBAL_RPS: '0.25', TIDB_MCP_GLOBAL_BURST: '1' });
    await ask(`${server.url}/nothing`, rpc({}, undefined, headersOf('198.51.100.2')));
    expect(await refused(kind)).toMatch(/Rate limited: the server as a whole is busy.*Retry in 4s/);
  });
});

describe('A client that has no key', () => {
  it.each(KINDS)('shows its user that one is missing, and not a limit: %s', async (kind) => {
    await start();
    const { failure, exchanges } = await connectFrom(kind, '198.51.100.1');
    expect(failure).toMatch(/carries no API key or access token|requires authorization \(HTTP 401\)/);
    expect(exchanges.map(({ status }) => status)).toEqual([401]);
  });

  it('and tries to sign in instead is told to send a key, within what its address may ask', async () => {
    await start();
    const tries = ['/.well-known/oauth-authorization-server', '/.well-known/openid-configuration', '/register'];
    const headers = headersOf('198.51.100.1');
    expect((await ask(`${server.url}/mcp`, rpc({}, undefined, headers))).status).toBe(401);
    const answers = [];
    for (const path of tries) answers.push(await ask(`${server.url}${path}`, { method: 'POST', headers }));
    expect(answers.map(({ status }) => status)).toEqual([404, 404, 404]);
    expect(answers.at(-1)!.text).toContain('send a TiDB Cloud API key in the Authorization header');
  });
});
