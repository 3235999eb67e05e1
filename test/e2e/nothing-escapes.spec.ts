import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { requestText, sendRaw } from '../support/raw-http.js';
import { ask, bearer, callTool, rpc, startTestServer, type TestServer } from '../support/test-server.js';

let server: TestServer;
const auth = (): string => `Bearer ${server.sandbox.publicKey}:${server.sandbox.privateKey}`;
const refused = async (): Promise<Record<string, number>> =>
  (await ask(`${server.url}/metrics`, { headers: { accept: 'application/json' } })).json().refusals;

beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.stop());

/** Every bucket refills between the tests. */
beforeEach(() => server.clock.advance(60_000));

/** Requests that no controller answers, with the status each deserves. */
const STRAYS: [string, string, number][] = [
  ['an unknown path', requestText('GET /nowhere'), 404],
  ['an unknown path under /v1/', requestText('GET /v1/nowhere'), 404],
  ['a trailing slash', requestText('GET /v1/clusters/'), 404],
  ['another method', requestText('DELETE /v1/clusters'), 405],
  ['GET /mcp', requestText('GET /mcp'), 405],
  ['DELETE /mcp', requestText('DELETE /mcp'), 405],
  ['HEAD', requestText('HEAD /v1/clusters'), 405],
  ['HEAD of a free route', requestText('HEAD /health/live'), 405],
  ['HEAD of a page', requestText('HEAD /docs/swagger-ui.css'), 405],
  ['an odd method', requestText('M-SEARCH /v1/clusters'), 405],
  ['QUERY', requestText('QUERY /v1/clusters'), 405],
  ['QUERY of nothing', requestText('QUERY /nowhere'), 404],
  ['PURGE', requestText('PURGE /nowhere'), 404],
  ['LINK on a parameter route', requestText('LINK /v1/clusters/1'), 405],
  ['OPTIONS that is no preflight', requestText('OPTIONS /mcp'), 405],
  ['OPTIONS *', requestText('OPTIONS *'), 404],
  ['a target that is no path', requestText('GET *v1/clusters'), 404],
  ['a bad escape', requestText('GET /%zz'), 400],
  ['a bad escape in a parameter', requestText('GET /v1/clusters/%zz'), 400],
  ['an unmet expectation', requestText('POST /mcp', { expect: 'foo', 'content-length': '2' }, '{}'), 417],
  ['a malformed content type', requestText('POST /mcp', { 'content-type': ';;', 'content-length': '2' }, '{}'), 415],
  ['a body where none belongs', requestText('GET /nowhere', { 'content-length': '2' }, '{}'), 404],
];

describe('Whatever arrives', () => {
  it.each(STRAYS)('pays at pre-auth and is then refused: %s', async (_, text, status) => {
    const before = await refused();
    for (let i = 0; i < 5; i += 1) {
      const answer = await sendRaw(server.port, [text]);
      expect([answer.status, answer.head.includes('x-powered-by')]).toEqual([status, false]);
    }
    const answer = await sendRaw(server.port, [text]);
    expect(answer.status).toBe(429);
    expect(answer.head.toLowerCase()).toContain('retry-after: 1');
    server.clock.advance(1001);
    expect((await refused()).preauth).toBe(before.preauth! + 1);
  });

  it.each(STRAYS)('pays the tenant bucket for a proven caller, and never the quota: %s', async (_, text) => {
    await ask(`${server.url}/v1/capabilities`, { headers: { authorization: auth() } });
    const used = async (): Promise<number> =>
      (await ask(`${server.url}/v1/capabilities`, { headers: { authorization: auth() } })).json().limits.quota.used;
    const before = await used();
    const proven = text.replace('\r\nhost:', `\r\nauthorization: ${auth()}\r\nhost:`);
    let answer = await sendRaw(server.port, [proven], { quietMs: 20 });
    for (let i = 0; i < 19; i += 1) answer = await sendRaw(server.port, [proven], { quietMs: 20 });
    expect(answer.status).toBe(429);
    expect((await refused()).quota).toBe(0);
    server.clock.advance(60_000);
    expect(await used()).toBe(before + 1);
  });

  it('is told which methods a path has', async () => {
    expect((await ask(`${server.url}/mcp`)).headers.get('allow')).toBe('POST');
    expect((await ask(`${server.url}/v1/clusters`, { method: 'PUT' })).headers.get('allow')).toBe('GET');
  });

  it('is unknown below a folder of pages as anywhere else', async () => {
    expect((await ask(`${server.url}/docs/nowhere`)).status).toBe(404);
  });

  it('has the shape of its path, whatever it matched', async () => {
    const problem = await ask(`${server.url}/v1/nowhere`);
    expect([problem.headers.get('content-type'), problem.json().code]).toEqual([
      'application/problem+json',
      'NOT_FOUND',
    ]);
    expect((await ask(`${server.url}/v1`)).json()).toMatchObject({ jsonrpc: '2.0', error: { code: -32600 }, id: null });
  });
});

describe('A call without a credential', () => {
  it('is 401 and told how to bring one', async () => {
    const answer = await ask(`${server.url}/v1/clusters`);
    expect([answer.status, answer.json().code]).toEqual([401, 'UNAUTHENTICATED']);
    expect(answer.headers.get('www-authenticate')).toMatch(/Basic .*Bearer /);
    const onMcp = await ask(`${server.url}/mcp`, rpc(callTool('tidb_list_clusters')));
    expect(onMcp.json()).toMatchObject({ error: { code: -32001, data: { code: 'UNAUTHENTICATED' } }, id: null });
  });

  it('is 401 before its body is looked at', async () => {
    for (const [init, type] of [
      ['{', 'application/json'],
      ['x', 'text/plain'],
    ] as const) {
      const answer = await ask(`${server.url}/mcp`, { method: 'POST', body: init, headers: { 'content-type': type } });
      expect(answer.status).toBe(401);
    }
  });
});

describe('What is outside the limits', () => {
  it('is served however often it is asked for', async () => {
    for (const path of ['/health/live', '/health/ready', '/metrics', '/openapi.json', '/docs']) {
      for (let i = 0; i < 30; i += 1) expect([path, (await ask(server.url + path)).status]).toEqual([path, 200]);
    }
    expect((await ask(`${server.url}/nowhere`)).status).toBe(404);
  });

  it('has no shadow: what only looks like it pays', async () => {
    for (let i = 0; i < 5; i += 1) expect((await ask(`${server.url}/health/liveness`)).status).toBe(404);
    expect((await ask(`${server.url}/metrics/x`)).status).toBe(429);
    expect((await ask(`${server.url}/metrics`, { method: 'POST' })).status).toBe(429);
  });

  it('answers OAuth discovery at no price', async () => {
    for (let i = 0; i < 30; i += 1) {
      expect((await ask(`${server.url}/.well-known/oauth-protected-resource/mcp`)).status).toBe(404);
    }
  });
});

describe('An identity', () => {
  it('survives an upstream that fails, proven or not', async () => {
    await ask(`${server.url}/v1/capabilities`, { headers: { authorization: auth() } });
    server.clock.advance(1_900_000);
    server.sandbox.outage = true;
    const proven = await ask(`${server.url}/v1/capabilities`, { headers: { authorization: auth() } });
    expect([proven.status, proven.json().code]).toEqual([503, 'UPSTREAM_UNAVAILABLE']);
    expect(Number(proven.headers.get('retry-after'))).toBeGreaterThan(0);
    server.sandbox.outage = false;
    const all: number[] = [];
    for (let i = 0; i < 25; i += 1)
      all.push((await ask(`${server.url}/v1/capabilities`, { headers: { authorization: auth() } })).status);
    expect(all.filter((status) => status === 200)).toHaveLength(19);
  });

  it('is what two Authorization headers do not make', async () => {
    const twice = requestText('GET /v1/capabilities', { authorization: auth() }).replace(
      '\r\nhost:',
      `\r\nAuthorization: Bearer x:y\r\nhost:`,
    );
    expect((await sendRaw(server.port, [twice])).status).toBe(401);
  });
});

describe('A key that TiDB Cloud revoked', () => {
  it('is noticed in a later call, answers HTTP 401 on every surface, and falls back to the anonymous rate', async () => {
    for (const modern of [false, true]) {
      server.clock.advance(60_000);
      await ask(`${server.url}/v1/capabilities`, { headers: { authorization: auth() } });
      server.sandbox.rejectKey(server.sandbox.publicKey);
      const request = modern ? modernCall('tidb_list_clusters') : callTool('tidb_list_clusters');
      const headers: Record<string, string> = modern
        ? { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': 'tidb_list_clusters' }
        : {};
      const answer = await ask(`${server.url}/mcp`, rpc(request, auth().slice(7), headers));
      expect([modern, answer.status]).toEqual([modern, 401]);
      expect(answer.json().error.data.code).toBe('UNAUTHENTICATED');
      expect(answer.headers.get('www-authenticate')).toContain('Bearer');
      const statuses: number[] = [];
      for (let i = 0; i < 10; i += 1)
        statuses.push((await ask(`${server.url}/v1/capabilities`, bearer(auth().slice(7)))).status);
      expect(statuses.filter((status) => status === 401).length).toBeLessThanOrEqual(5);
      expect(statuses.at(-1)).toBe(429);
      server.sandbox.acceptKey(server.sandbox.publicKey);
    }
  });
});

function modernCall(name: string): Record<string, unknown> {
  return {
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: {
      name,
      arguments: {},
      _meta: {
        'io.modelcontextprotocol/protocolVersion': '2026-07-28',
        'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
        'io.modelcontextprotocol/clientCapabilities': {},
      },
    },
  };
}
