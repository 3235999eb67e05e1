import { describe, expect, it } from 'vitest';
import { parseConfig } from '../../src/config/parse-config.js';
import { ask, bearer, callTool, rpc } from '../support/test-server.js';
import { from, keyOf, limits, refusedBy, served, specServers } from './spec-stage.js';

/**
 * The user's page, paragraph by paragraph: what each promises, seen from outside of a running server. Where a sentence
 * needs a database server, a real process or a browser, the suite that has one holds it.
 */

const start = specServers();

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
