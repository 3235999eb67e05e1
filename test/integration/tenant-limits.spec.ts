import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { fingerprintOf, subjectTenantOf } from '../../src/auth/identify.js';
import { TenantLimitsService } from '../../src/tenant-limits/tenant-limits.service.js';
import { ask, bearer, startTestServer, type TestServer } from '../support/test-server.js';

let folder: string;
let url: string;
let server: TestServer;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'tenants-'));
  url = `sqlite:${join(folder, 'control.db')}`;
  server = await startTestServer({ TIDB_MCP_CONTROL_DB_URL: url });
});
afterEach(async () => {
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** The built program, as an operator calls it. */
async function tenants(
  args: string[],
  input = '',
  more: Record<string, string> = {},
): Promise<{ status: unknown; out: string; errors: string }> {
  const env = { PATH: process.env['PATH'], TIDB_MCP_CONTROL_DB_URL: url, ...more };
  const child = spawn(process.execPath, ['dist/cli.js', 'tenants', ...args], { env });
  let [out, errors] = ['', ''];
  child.stdout.on('data', (data) => (out += data));
  child.stderr.on('data', (data) => (errors += data));
  child.stdin.end(input);
  const status = await new Promise((resolve) => child.on('exit', resolve));
  return { status, out, errors };
}
const key = (): string => `${server.sandbox.publicKey}:${server.sandbox.privateKey}`;
const fingerprint = (): string =>
  fingerprintOf({ kind: 'api-key', publicKey: server.sandbox.publicKey, privateKey: server.sandbox.privateKey });
const refresh = () => server.running.app.get(TenantLimitsService, { strict: false }).refresh();
const capabilities = async () => (await ask(`${server.url}/v1/capabilities`, bearer(key()))).json();

async function served(count: number): Promise<number> {
  let ok = 0;
  for (let i = 0; i < count; i += 1)
    if ((await ask(`${server.url}/v1/capabilities`, bearer(key()))).status === 200) ok += 1;
  return ok;
}

describe('An operator who gives one tenant limits of its own', () => {
  it('does so by the key, and sees them in force for that tenant alone', async () => {
    const set = await tenants(
      ['set', '--key-stdin', '--rps', '10', '--burst', '40', '--daily-quota', '100'],
      `${key()}\n`,
    );
    expect([set.status, set.out.split('\n')[0]]).toEqual([0, `${fingerprint()}  rps 10  burst 40  daily-quota 100`]);
    await refresh();
    expect(await served(60)).toBe(41);
    server.clock.advance(1000);
    expect(await served(20)).toBe(10);
    server.clock.advance(60_000);
    expect((await capabilities()).limits).toMatchObject({
      tenant: { requestsPerSecond: 10, burst: 40 },
      quota: { callsPerUtcDay: 100, used: 52, remaining: 48 },
    });
    const other = (await ask(`${server.url}/v1/capabilities`, bearer(server.sandbox.token!))).json();
    expect(other.limits).toMatchObject({
      tenant: { requestsPerSecond: 5, burst: 20 },
      quota: { callsPerUtcDay: 5000 },
    });
  });

  it('lists, changes in part, shows and clears them', async () => {
    await tenants(['set', '--fingerprint', fingerprint(), '--rps', '0.5']);
    await tenants(['set', '--fingerprint', fingerprint(), '--daily-quota', '9']);
    const expected = `${fingerprint()}  rps 0.5  burst default  daily-quota 9\nIn ${url}.\n`;
    expect((await tenants(['list'])).out).toBe(expected);
    expect((await tenants(['show', '--key-stdin'], key())).out).toBe(
      `${expected}Standard input was taken for an API key, fingerprint ${fingerprint().slice(0, 12)}.\n`,
    );
    expect((await tenants(['clear', '--fingerprint', fingerprint()])).status).toBe(0);
    expect((await tenants(['list'])).out).toBe(`No tenant has limits of its own in ${url}.\n`);
  });

  it('leaves nothing of the day where the new limit is below what is used', async () => {
    await served(5);
    await tenants(['set', '--fingerprint', fingerprint(), '--daily-quota', '3']);
    await refresh();
    const refused = await ask(`${server.url}/v1/clusters`, bearer(key()));
    expect([refused.status, refused.json().limit]).toEqual([429, 'quota']);
  });

  it('names the owner of OAuth tokens by the subject, where servers go by that', async () => {
    const oauth = { TIDB_MCP_OAUTH_USERINFO_URL: 'https://login.example.com/userinfo' };
    const set = await tenants(['set', '--subject', 'mei', '--rps', '7'], '', oauth);
    const name = subjectTenantOf(oauth.TIDB_MCP_OAUTH_USERINFO_URL, 'mei');
    expect([set.status, set.out.split('\n')[0]]).toEqual([0, `${name}  rps 7  burst default  daily-quota default`]);
    const byToken = await tenants(['show', '--key-stdin'], 'a-token', oauth);
    expect([byToken.status, byToken.errors]).toEqual([78, expect.stringContaining('use --subject')]);
  });

  it('is told what is wrong, and nothing is changed', async () => {
    for (const [args, message] of [
      [['set', '--fingerprint', fingerprint()], 'needs --rps'],
      [['set', '--fingerprint', 'abc', '--rps', '1'], '64 lower-case hex digits, or at least the first 12'],
      [['set', '--fingerprint', fingerprint(), '--rps', '0'], '--rps 0: is below 0.000001, allowed: a number'],
      [['set', '--rps', '1'], '--fingerprint, by --key-stdin or by --subject'],
      [['set', '--subject', 'mei', '--rps', '1'], 'needs the TIDB_MCP_OAUTH_USERINFO_URL'],
      [['set', '--subject', '', '--rps', '1'], '--subject takes the sub itself'],
      [['set', '--key-stdin', '--rps', '1'], 'no credential'],
      [['list', '--rps', '1'], 'takes no --rps'],
    ] as const) {
      const { status, errors } = await tenants([...args], 'no credential at all');
      expect([status, errors]).toEqual([78, expect.stringContaining(message)]);
    }
    expect((await tenants(['list'])).out).toBe(`No tenant has limits of its own in ${url}.\n`);
  });
});
