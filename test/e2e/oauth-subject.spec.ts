import { createHash } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import type { Sandbox } from '../../src/sandbox/sandbox.adapter.js';
import { startSandbox } from '../../src/sandbox/sandbox.adapter.js';
import { type Answer, ask, bearer, startTestServer, type TestServer } from '../support/test-server.js';

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

/** A server that asks the sandbox's userinfo endpoint, unless `env` says otherwise; its door lets many in. */
async function start(env: Record<string, string> = {}): Promise<TestServer> {
  const sandbox: Sandbox = await startSandbox({ rateLimitPerMinute: 100_000 });
  const server = await startTestServer(
    { TIDB_MCP_OAUTH_USERINFO_URL: sandbox.userinfoUrl, TIDB_MCP_PREAUTH_BURST: '1000', ...env },
    {},
    sandbox,
  );
  closing.push(
    () => sandbox.close(),
    () => server.stop(),
  );
  return server;
}
const call = (server: TestServer, token: string): Promise<Answer> =>
  ask(`${server.url}/v1/capabilities`, bearer(token));
const limitOf = (answer: Answer): string => (answer.status === 429 ? answer.json().limit : String(answer.status));

describe('A rotating OAuth token', () => {
  it('is one tenant: twenty tokens of one subject have one burst and one count, not twenty', async () => {
    const server = await start();
    const answers: string[] = [];
    for (let i = 0; i < 20; i += 1) {
      const token = server.sandbox.issueToken('mei');
      for (let j = 0; j < 3; j += 1) answers.push(limitOf(await call(server, token)));
    }
    // As of any fresh credential: one paid at the door, then a burst of twenty.
    expect(answers.filter((one) => one === '200')).toHaveLength(21);
    expect(new Set(answers)).toEqual(new Set(['200', 'tenant']));
    server.clock.advance(4000);
    const report = (await call(server, server.sandbox.issueToken('mei'))).json();
    expect(report.limits.quota.used).toBe(22);
  });

  it('shares the day: what one token used up, another does not have', async () => {
    const server = await start({ TIDB_MCP_DAILY_QUOTA: '5' });
    const [first, second] = ['mei', 'mei'].map((subject) => server.sandbox.issueToken(subject));
    for (let i = 0; i < 5; i += 1) expect((await call(server, [first!, second!][i % 2]!)).status).toBe(200);
    for (const token of [first!, second!, server.sandbox.issueToken('mei')]) {
      expect(limitOf(await call(server, token))).toBe('quota');
    }
    expect((await call(server, server.sandbox.issueToken('luca'))).status).toBe(200);
  });

  it('keeps the bucket that its subject emptied when it takes the place of a token that was rejected', async () => {
    const server = await start();
    const first = server.sandbox.issueToken('mei');
    for (let i = 0; i < 21; i += 1) expect((await call(server, first)).status).toBe(200);
    server.sandbox.rejectKey(server.sandbox.publicKey);
    server.clock.advance(200);
    expect((await ask(`${server.url}/v1/clusters`, bearer(first))).status).toBe(401);
    server.sandbox.acceptKey(server.sandbox.publicKey);
    expect(limitOf(await call(server, server.sandbox.issueToken('mei')))).toBe('tenant');
  });

  it('pays at the door of its address first', async () => {
    const server = await start({ TIDB_MCP_PREAUTH_BURST: '2' });
    const answers: string[] = [];
    for (let i = 0; i < 4; i += 1) answers.push(limitOf(await call(server, server.sandbox.issueToken('mei'))));
    expect(answers).toEqual(['200', '200', 'preauth', 'preauth']);
  });

  it('is named by what the userinfo endpoint says, and never by a claim of its own', async () => {
    const server = await start();
    const victim = server.sandbox.issueToken('mei');
    const before = (await call(server, victim)).json();
    const forged = [...Array.from({ length: 5 }, (_, i) => ({ sub: `fresh-${i}` })), { sub: 'mei' }].map((claims) =>
      server.sandbox.issueToken('mallory', claims),
    );
    const callers = [];
    for (const token of forged) callers.push((await call(server, token)).json().caller.fingerprint);
    expect(new Set(callers).size).toBe(1);
    expect(callers[0]).not.toBe(before.caller.fingerprint);
    expect((await call(server, victim)).json().limits.quota.used).toBe(2);
    const named = `oauth-subject\n${server.sandbox.userinfoUrl}\nmei`;
    expect(before.caller.fingerprint).toBe(createHash('sha256').update(named).digest('hex').slice(0, 12));
  });

  it('may confirm what the token before it has preflighted', async () => {
    const server = await start();
    const post = (path: string, token: string, body: unknown): Promise<Answer> =>
      ask(`${server.url}/v1/${path}`, {
        method: 'POST',
        headers: { ...bearer(token).headers, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
    const [before, after, stranger] = ['mei', 'mei', 'luca'].map((subject) => server.sandbox.issueToken(subject));
    const cluster = (await ask(`${server.url}/v1/clusters?pageSize=1`, bearer(before!))).json().items[0];
    const operation = { operation: 'delete_cluster', arguments: { clusterId: cluster.clusterId } };
    const { confirmationToken } = (await post('preflight', before!, operation)).json();
    expect((await post('confirm', stranger!, { confirmationToken })).status).toBe(404);
    expect((await post('confirm', after!, { confirmationToken })).json()).toMatchObject({ outcome: 'done' });
  });

  it('is forgotten by itself when it is rejected, and the other tokens of its subject go on', async () => {
    const server = await start();
    const [first, second] = ['mei', 'mei'].map((subject) => server.sandbox.issueToken(subject));
    for (const token of [first!, second!]) expect((await call(server, token)).status).toBe(200);
    server.sandbox.revokeToken(first!);
    expect((await ask(`${server.url}/v1/clusters`, bearer(first!))).status).toBe(401);
    expect((await call(server, second!)).status).toBe(200);
    expect((await call(server, first!)).status).toBe(401);
  });

  it('is a tenant of its own where no userinfo endpoint is set', async () => {
    const server = await start({ TIDB_MCP_OAUTH_USERINFO_URL: '' });
    const callers = [];
    for (let i = 0; i < 3; i += 1)
      callers.push((await call(server, server.sandbox.issueToken('mei'))).json().caller.fingerprint);
    expect(new Set(callers).size).toBe(3);
    expect(server.sandbox.requests.some(({ path }) => path === '/oauth/userinfo')).toBe(false);
  });
});

describe('A kept proof of an OAuth token', () => {
  /**
   * Two calls before and two after a restart with other settings, on one database: whose they were, and what was used.
   */
  async function overRestart(before: boolean, after: boolean): Promise<{ tenant: string; used: number }[]> {
    const sandbox = await startSandbox({ rateLimitPerMinute: 100_000 });
    closing.push(() => sandbox.close());
    const file = join(mkdtempSync(join(tmpdir(), 'oauth-subject-')), 'control.db');
    const token = sandbox.issueToken('mei');
    const calls = [];
    for (const withSubjects of [before, after]) {
      const kept = { TIDB_MCP_CONTROL_DB_URL: `sqlite:${file}`, TIDB_MCP_PERSIST_PROOF: 'true' };
      const subjects: Record<string, string> = withSubjects ? { TIDB_MCP_OAUTH_USERINFO_URL: sandbox.userinfoUrl } : {};
      const server = await startTestServer({ ...kept, ...subjects }, {}, sandbox);
      for (let i = 0; i < 2; i += 1) {
        const { caller, limits } = (await call(server, token)).json();
        calls.push({ tenant: caller.fingerprint, used: limits.quota.used });
      }
      await server.stop();
    }
    return calls;
  }

  it('counts its first call for the subject once there are subjects', async () => {
    const [own, , first, second] = await overRestart(false, true);
    expect([first!.used, second!.used]).toEqual([1, 2]);
    expect(first!.tenant).not.toBe(own!.tenant);
    expect(second!.tenant).toBe(first!.tenant);
  });

  it('is a tenant of its own again once there are none', async () => {
    const [subject, , first, second] = await overRestart(true, false);
    expect([first!.used, second!.used]).toEqual([1, 2]);
    expect(first!.tenant).not.toBe(subject!.tenant);
    expect(second!.tenant).toBe(first!.tenant);
  });
});
