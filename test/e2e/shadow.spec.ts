import { afterEach, describe, expect, it } from 'vitest';
import { startSandbox } from '../../src/sandbox/sandbox.adapter.js';
import { type Answer, ask, bearer, callTool, rpc, startTestServer, type TestServer } from '../support/test-server.js';

let server: TestServer;
afterEach(() => server.stop());
const key = (): string => `${server.sandbox.publicKey}:${server.sandbox.privateKey}`;
const capabilities = (): Promise<Answer> => ask(`${server.url}/v1/capabilities`, bearer(key()));

async function statuses(times: number, send: () => Promise<Answer>): Promise<number[]> {
  const answers: Answer[] = [];
  for (let i = 0; i < times; i += 1) answers.push(await send());
  return answers.map(({ status }) => status);
}

/** What `/metrics` says now: what was refused, what would have been, and what events stand for. */
async function counts() {
  server.clock.advance(1000);
  const accept = { headers: { accept: 'application/json' } };
  return (await ask(`${server.url}/metrics`, accept)).json<{
    refusals: Record<string, number>;
    shadowRefusals: Record<string, number>;
    telemetryRepresented: Record<string, number>;
  }>();
}
const NONE = { preauth: 0, tenant: 0, quota: 0, global: 0 };

describe('An operator who tries new numbers in shadow mode', () => {
  it('sees what a tenant would have been refused, while the tenant is refused nothing', async () => {
    const numbers = { TIDB_MCP_TENANT_BURST: '2', TIDB_MCP_DAILY_QUOTA: '6' };
    server = await startTestServer({ TIDB_MCP_SHADOW: 'tenant,quota', ...numbers });
    expect(new Set(await statuses(10, capabilities))).toEqual(new Set([200]));
    const { limits } = (await capabilities()).json();
    expect(limits.quota).toMatchObject({ callsPerUtcDay: 6, used: 11, remaining: 0, shadowed: true });
    expect(limits.tenant).toMatchObject({ burst: 2, shadowed: true });
    expect([limits.enforced, limits.preauth.shadowed, limits.global.shadowed]).toEqual([true, undefined, undefined]);
    // Of eleven the first proved the key, two found a token, and six were within the quota.
    const { refusals, shadowRefusals, telemetryRepresented } = await counts();
    expect([refusals, shadowRefusals]).toEqual([NONE, { ...NONE, tenant: 8, quota: 5 }]);
    expect(telemetryRepresented).toEqual({ sent: 0, dropped: 0 });
    const { text } = await ask(`${server.url}/metrics`);
    expect(text).toContain('tidb_mcp_shadow_refusals_total{limit="tenant",surface="v1"} 8');
    expect(text).toContain('tidb_mcp_refusals_total{limit="tenant",surface="v1"} 0');
  });

  it('promises no tenant a limit that is not enforced', async () => {
    server = await startTestServer({ TIDB_MCP_SHADOW: 'quota', TIDB_MCP_DAILY_QUOTA: '1' });
    await capabilities();
    const { headers } = await capabilities();
    expect(headers.get('ratelimit-policy')).toBe('"tenant";q=20;w=4');
    expect(headers.get('ratelimit')).toMatch(/^"tenant";r=\d+;t=\d+$/);
    const { text } = await ask(`${server.url}/mcp`, rpc(callTool('tidb_capabilities'), key()));
    expect(text).toContain('"shadowed":true');
    expect(text).not.toContain('tidb-cloud-mcp/quota');
  });

  it('counts a call over the quota too where its key proves itself in that very call', async () => {
    server = await startTestServer({ TIDB_MCP_SHADOW: 'quota', TIDB_MCP_DAILY_QUOTA: '1' });
    await capabilities();
    server.sandbox.rejectKey(server.sandbox.publicKey);
    server.clock.advance(1_801_000);
    expect((await capabilities()).status).toBe(401);
    server.sandbox.acceptKey(server.sandbox.publicKey);
    expect((await capabilities()).status).toBe(200);
    const { refusals, shadowRefusals } = await counts();
    expect(refusals).toEqual(NONE);
    // The call that was answered 401 was counted as well, as ever.
    expect(shadowRefusals).toEqual({ ...NONE, quota: 2 });
  });

  it('refuses no further token of a subject whose bucket is empty either', async () => {
    const sandbox = await startSandbox();
    const env = {
      TIDB_MCP_OAUTH_USERINFO_URL: sandbox.userinfoUrl,
      TIDB_MCP_SHADOW: 'tenant',
      TIDB_MCP_TENANT_BURST: '2',
      TIDB_MCP_PREAUTH_BURST: '100',
    };
    server = await startTestServer(env, {}, sandbox);
    const fresh = () => ask(`${server.url}/v1/capabilities`, bearer(sandbox.issueToken('mei')));
    expect(new Set(await statuses(6, fresh))).toEqual(new Set([200]));
    // The first named the subject, and two of the others found a token in its bucket.
    expect((await counts()).shadowRefusals).toEqual({ ...NONE, tenant: 3 });
    await sandbox.close();
  });

  it('gives strangers the budget of a gateway and no more', async () => {
    server = await startTestServer({ TIDB_MCP_SHADOW: 'preauth', TIDB_MCP_GATEWAY_BURST: '8' });
    const found = await statuses(12, () => ask(`${server.url}/v1/clusters`));
    expect(found).toEqual([...Array.from({ length: 8 }, () => 401), ...Array.from({ length: 4 }, () => 429)]);
    const { refusals, shadowRefusals } = await counts();
    expect([refusals, shadowRefusals]).toEqual([
      { ...NONE, preauth: 4 },
      { ...NONE, preauth: 3 },
    ]);
  });

  it('sees on the console which layers are watched, and what they would have refused', async () => {
    const token = 'the-operators-own-token';
    const env = { TIDB_MCP_SHADOW: 'global', TIDB_MCP_GLOBAL_BURST: '1', TIDB_MCP_ADMIN_TOKEN: token };
    server = await startTestServer(env);
    await statuses(3, capabilities);
    const { limits, totals } = (await ask(`${server.url}/console/data`, bearer(token))).json();
    expect(limits.shadow).toEqual(['global']);
    expect(totals.shadowRefused).toEqual({ ...NONE, global: 2 });
  });

  it('sees what the server as a whole would have refused', async () => {
    server = await startTestServer({ TIDB_MCP_SHADOW: 'global', TIDB_MCP_GLOBAL_BURST: '3' });
    expect(new Set(await statuses(8, capabilities))).toEqual(new Set([200]));
    expect((await counts()).shadowRefusals).toEqual({ ...NONE, global: 5 });
  });
});

describe('Without shadow mode', () => {
  it('nothing is let through and nothing is marked', async () => {
    server = await startTestServer({ TIDB_MCP_TENANT_BURST: '2', TIDB_MCP_DAILY_QUOTA: '6' });
    expect(await statuses(5, capabilities)).toEqual([200, 200, 200, 429, 429]);
    server.clock.advance(1000);
    expect((await capabilities()).text).not.toContain('shadowed');
    expect((await counts()).shadowRefusals).toEqual(NONE);
  });
});
