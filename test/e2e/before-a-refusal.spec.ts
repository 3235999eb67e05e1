import { Logger } from '@nestjs/common';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { ask, bearer, callTool, rpc, startTestServer, type TestServer } from '../support/test-server.js';

let server: TestServer;
afterEach(() => server.stop());
const key = (): string => `${server.sandbox.publicKey}:${server.sandbox.privateKey}`;

describe('Before a refusal', () => {
  it('a proven caller is told with each answer what it has left, on both surfaces and in the refusal itself', async () => {
    server = await startTestServer({ TIDB_MCP_TENANT_BURST: '3' });
    const fields = (answer: { headers: Headers }) => [
      answer.headers.get('ratelimit-policy'),
      answer.headers.get('ratelimit'),
    ];
    const policy = '"tenant";q=3;w=1, "quota";q=5000;w=86400';
    const proving = await ask(`${server.url}/v1/capabilities`, bearer(key()));
    expect(fields(proving)).toEqual([policy, '"tenant";r=3;t=0, "quota";r=4999;t=43200']);
    const onMcp = await ask(`${server.url}/mcp`, rpc(callTool('tidb_capabilities'), key()));
    expect(fields(onMcp)).toEqual([policy, '"tenant";r=2;t=1, "quota";r=4998;t=43200']);
    const wrong = await ask(`${server.url}/v1/clusters?pageSize=0`, bearer(key()));
    expect([wrong.status, ...fields(wrong)]).toEqual([400, policy, '"tenant";r=1;t=1, "quota";r=4997;t=43200']);
    await ask(`${server.url}/v1/capabilities`, bearer(key()));
    const refused = await ask(`${server.url}/v1/capabilities`, bearer(key()));
    expect([refused.status, ...fields(refused)]).toEqual([429, policy, '"tenant";r=0;t=1, "quota";r=4996;t=43200']);
  });

  it('a stranger is told nothing of it, having nothing of its own', async () => {
    server = await startTestServer();
    expect((await ask(`${server.url}/v1/clusters`)).headers.get('ratelimit')).toBeNull();
  });

  it('an agent is told in its tool results once four fifths of the day are used', async () => {
    server = await startTestServer({ TIDB_MCP_DAILY_QUOTA: '5' });
    const notices: unknown[] = [];
    for (let i = 0; i < 5; i += 1) {
      const { text } = await ask(`${server.url}/mcp`, rpc(callTool('tidb_capabilities'), key()));
      const { result } = JSON.parse(text.replace(/^[\s\S]*?data: /, ''));
      notices.push(result._meta?.['tidb-cloud-mcp/quota']);
    }
    const resetsAt = '2026-11-30T00:00:00.000Z';
    expect(notices).toEqual([undefined, undefined, undefined, { remaining: 1, resetsAt }, { remaining: 0, resetsAt }]);
  });

  it('a caller is told who it is to the server, and where its address was read', async () => {
    server = await startTestServer({ TIDB_MCP_TRUSTED_PROXY_DEPTH: '2' });
    const through = { headers: { ...bearer(key()).headers, 'x-forwarded-for': '1.2.3.4' } };
    const { caller } = (await ask(`${server.url}/v1/capabilities`, through)).json();
    expect(caller).toMatchObject({
      surface: 'v1',
      kind: 'api-key',
      proven: false,
      address: '127.0.0.1',
      addressSource: 'fallback',
    });
    expect(caller.fingerprint).toMatch(/^[0-9a-f]{12}$/);
    const mcp = await ask(
      `${server.url}/mcp`,
      rpc(callTool('tidb_capabilities'), key(), { 'x-forwarded-for': '1.2.3.4, 10.0.0.1' }),
    );
    const { result } = JSON.parse(mcp.text.replace(/^[\s\S]*?data: /, ''));
    expect(result.structuredContent.caller).toMatchObject({
      surface: 'mcp',
      proven: true,
      address: '1.2.3.4',
      addressSource: 'forwarded',
    });
  });
  it('an operator who declared no proxy is told at the first call that came through one, and not by a probe', async () => {
    const warn = vi.spyOn(Logger.prototype, 'warn').mockImplementation(() => undefined);
    try {
      server = await startTestServer();
      const told = () => warn.mock.calls.filter(([text]) => String(text).includes('X-Forwarded-For')).length;
      const through = { headers: { 'x-forwarded-for': '1.2.3.4' } };
      await ask(`${server.url}/health/ready`, through);
      expect(told()).toBe(0);
      for (let i = 0; i < 3; i += 1) await ask(`${server.url}/v1/clusters`, through);
      expect(told()).toBe(1);
    } finally {
      warn.mockRestore();
    }
  });
});
