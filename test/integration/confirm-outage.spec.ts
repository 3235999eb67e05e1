import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ConfirmClient } from '../support/confirm-client.js';
import { createFile, SERVER_KINDS, type ScratchDatabase } from '../support/control-databases.js';
import { TcpProxy } from '../support/tcp-proxy.js';
import { type Answer, startTestServer, type TestServer } from '../support/test-server.js';
import { waitUntil } from '../support/wait-until.js';

const ROOMY = { TIDB_MCP_TENANT_BURST: '100000', TIDB_MCP_GLOBAL_BURST: '100000', TIDB_MCP_DAILY_QUOTA: '100000' };

describe.each(SERVER_KINDS)('while the control database is away, on $title', ({ available, create, commit, name }) => {
  describe.skipIf(!available)('a server', () => {
    let scratch: ScratchDatabase;
    let proxy: TcpProxy;
    let server: TestServer;
    let caller: ConfirmClient;

    beforeEach(async () => {
      scratch = await create();
      proxy = await TcpProxy.forUrl(scratch.url);
      server = await startTestServer({ ...ROOMY, TIDB_MCP_CONTROL_DB_URL: proxy.url(scratch.url) });
      caller = new ConfirmClient(server.url, `${server.sandbox.publicKey}:${server.sandbox.privateKey}`);
    });
    afterEach(async () => {
      await server.stop();
      await proxy.close();
      await scratch.drop();
    });

    const outcomeOf = async (work: Promise<Answer>) => {
      const answer = await work;
      return { status: answer.status, code: answer.json<{ code?: string }>().code };
    };
    const refused = { status: 503, code: 'CONFIRM_LEDGER_UNAVAILABLE' };
    const backAgain = async (clusterId: string) => {
      proxy.set('forward');
      const works = async () => (await caller.preflight('delete_cluster', { clusterId })).status === 200;
      await waitUntil('the ledger is back', works, 30_000);
    };

    it.each(['refuse', 'hang', 'slow'] as const)(
      'keeps counting calls and performs nothing, both at once, and confirms when it is back: %s',
      { timeout: 60_000 },
      async (fault) => {
        const clusterId = await caller.cluster(0);
        const token = await caller.token('delete_cluster', { clusterId });
        const used = async () =>
          (await caller.get('/v1/capabilities')).json<{ limits: { quota: { used: number } } }>().limits.quota.used;
        const before = await used();
        proxy.set(fault);
        server.sandbox.requests.length = 0;
        expect(await outcomeOf(caller.confirm(token))).toEqual(refused);
        expect(await outcomeOf(caller.preflight('delete_cluster', { clusterId }))).toEqual(refused);
        const asked = server.sandbox.requests.map(({ method }) => method);
        // A slow ledger has said yes to the first question before the target is looked at; a silent one has not.
        expect(asked).toEqual(fault === 'slow' ? asked.filter((method) => method === 'GET') : []);
        const read = await caller.get(`/v1/clusters/${clusterId}`);
        expect(read.status).toBe(200);
        expect(await used()).toBe(before + 4);
        expect(await outcomeOf(caller.confirm(token))).toEqual(refused);
        await backAgain(clusterId);
        const confirmed = await caller.confirm(token);
        expect(confirmed.json()).toMatchObject({ outcome: 'done' });
        expect(
          server.sandbox.requests.filter(({ method, status }) => method === 'DELETE' && status === 200),
        ).toHaveLength(1);
      },
    );

    it(
      'performs nothing where the answer to the one update is lost, and gives the confirmation back',
      { timeout: 60_000 },
      async () => {
        const clusterId = await caller.cluster(0);
        const token = await caller.token('delete_cluster', { clusterId });
        const cut = proxy.cutOn('= 0 AND', 'after');
        expect(await outcomeOf(caller.confirm(token))).toMatchObject({ code: 'CONFIRM_LEDGER_UNAVAILABLE' });
        await cut;
        const committed = proxy.cutOn(commit, 'after');
        expect(await outcomeOf(caller.confirm(token))).toMatchObject({ code: 'CONFIRM_LEDGER_UNAVAILABLE' });
        await committed;
        expect(server.sandbox.requests.filter(({ method }) => method === 'DELETE')).toEqual([]);
        const done = async () => (await caller.confirm(token)).json<{ outcome?: string; code?: string }>();
        await waitUntil(
          'confirmed',
          async () => {
            const { outcome, code } = await done();
            return outcome === 'done' && code === undefined;
          },
          20_000,
        );
      },
    );

    it('tells the outcome later where it could not be written at once', { timeout: 60_000 }, async () => {
      const clusterId = await caller.cluster(0);
      const token = await caller.token('delete_cluster', { clusterId });
      const quote = name === 'PostgreSQL' ? '"' : '`';
      const cut = proxy.cutOn(`SET ${quote}outcome`, 'before');
      expect((await caller.confirm(token)).json()).toMatchObject({ outcome: 'done', operation: 'delete_cluster' });
      await cut;
      const again = async () => (await caller.confirm(token)).json<{ outcome?: string; code?: string }>();
      await waitUntil('the outcome is there', async () => (await again()).outcome === 'done', 20_000);
      expect(await again()).toMatchObject({ code: 'CONFIRM_USED', outcome: 'done' });
    });
  });
});

describe('A control database that was never there', () => {
  it('is told as such, and nothing reaches TiDB Cloud', async () => {
    const server = await startTestServer({ ...ROOMY, TIDB_MCP_CONTROL_DB_URL: 'mysql://nobody@127.0.0.1:1/nothing' });
    const caller = new ConfirmClient(server.url, `${server.sandbox.publicKey}:${server.sandbox.privateKey}`);
    await caller.get('/v1/capabilities');
    server.sandbox.requests.length = 0;
    const answer = await caller.preflight('delete_cluster', { clusterId: '1' });
    expect(answer.json()).toMatchObject({ code: 'CONFIRM_LEDGER_UNAVAILABLE', retryAfterSeconds: 5 });
    expect(server.sandbox.requests).toEqual([]);
    await server.stop();
  });

  it('and was only restarted keeps what it has: a confirmation outlives the server that made it', async () => {
    const database: ScratchDatabase = await createFile();
    const first = await startTestServer({ ...ROOMY, TIDB_MCP_CONTROL_DB_URL: database.url });
    const key = `${first.sandbox.publicKey}:${first.sandbox.privateKey}`;
    const before = new ConfirmClient(first.url, key);
    const clusterId = await before.cluster(0);
    const token = await before.token('delete_cluster', { clusterId });
    await first.running.stop();
    const { serverlessUrl, iamUrl } = first.sandbox;
    const upstream = { TIDB_MCP_SERVERLESS_API_URL: serverlessUrl, TIDB_MCP_IAM_API_URL: iamUrl };
    const second = await startTestServer({ ...ROOMY, ...upstream, TIDB_MCP_CONTROL_DB_URL: database.url });
    expect((await new ConfirmClient(second.url, key).confirm(token)).json()).toMatchObject({ outcome: 'done' });
    await second.stop();
    await first.sandbox.close();
    await database.drop();
  });
});
