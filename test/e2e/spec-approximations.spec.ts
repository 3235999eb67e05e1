import { describe, expect, it } from 'vitest';
import { ask, bearer, callTool, rpc } from '../support/test-server.js';
import { from, keyOf, limits, refusedBy, served, snapshot, specServers } from './spec-stage.js';

/**
 * The user's page, paragraph by paragraph: what each promises, seen from outside of a running server. Where a sentence
 * needs a database server, a real process or a browser, the suite that has one holds it.
 */

const start = specServers();

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
