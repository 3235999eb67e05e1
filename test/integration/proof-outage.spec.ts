import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ProofService } from '../../src/auth/proof.service.js';
import { ProofStoreService } from '../../src/proof-store/proof-store.service.js';
import { type ScratchDatabase, SERVER_KINDS } from '../support/control-databases.js';
import { TcpProxy } from '../support/tcp-proxy.js';
import { ask, bearer, startTestServer, type TestServer } from '../support/test-server.js';
import { waitUntil } from '../support/wait-until.js';

describe.each(SERVER_KINDS)('proofs through an outage of $title', ({ available, create }) => {
  describe.skipIf(!available)('as tenants live through it', () => {
    let scratch: ScratchDatabase;
    let proxy: TcpProxy;
    const running: TestServer[] = [];

    const start = async (): Promise<TestServer> => {
      const server = await startTestServer(
        {
          TIDB_MCP_CONTROL_DB_URL: proxy.url(scratch.url),
          TIDB_MCP_PERSIST_PROOF: 'true',
          TIDB_MCP_QUOTA_FLUSH_SECONDS: '1',
        },
        {},
        running[0]?.sandbox,
      );
      running.push(server);
      return server;
    };
    const call = async (server: TestServer): Promise<number> => {
      const { publicKey, privateKey } = server.sandbox;
      return (await ask(`${server.url}/v1/capabilities`, bearer(`${publicKey}:${privateKey}`))).status;
    };
    const proofs = (server: TestServer): number => server.running.app.get(ProofService, { strict: false }).count();
    const exchange = (server: TestServer): Promise<void> =>
      server.running.app.get(ProofStoreService, { strict: false }).exchangeNow();

    beforeAll(async () => {
      scratch = await create();
    });
    beforeEach(async () => {
      proxy = await TcpProxy.forUrl(scratch.url);
    });
    afterEach(async () => {
      for (const server of running.splice(0).toReversed()) await server.stop();
      await proxy.close();
      await scratch.query('DELETE FROM proven_credential');
    });
    afterAll(async () => {
      await scratch.drop();
    });

    it.each(['refuse', 'hang'] as const)(
      'nobody waits and nothing is forgotten while it can only %s, and what happened is told afterwards',
      async (mode) => {
        const [a, b] = [await start(), await start()];
        expect(await call(a)).toBe(200);
        await exchange(a);
        await exchange(b);
        proxy.set(mode);
        const exchanged: string[] = [];
        const exchanges = [a, b].map(
          async (server) => void exchanged.push(await exchange(server).then(() => 'given up')),
        );
        expect([await call(a), await call(b)]).toEqual([200, 200]);
        if (mode === 'hang') expect(exchanged).toEqual([]);
        await Promise.all(exchanges);
        expect([proofs(a), proofs(b)]).toEqual([1, 1]);
        a.sandbox.rejectKey(a.sandbox.publicKey);
        for (const { clock } of [a, b]) clock.advance(60_000);
        a.clock.advance(1_800_000);
        expect(await call(a)).toBe(401);
        await exchange(a);
        expect([proofs(a), proofs(b), await call(b)]).toEqual([0, 1, 200]);
        proxy.set('forward');
        await waitUntil('told', () => proofs(b) === 0, 15_000);
        expect(await call(b)).toBe(401);
      },
      30_000,
    );

    it('a server boots while it hangs, and its tenants prove themselves as ever', async () => {
      await (await start()).stop();
      running.length = 0;
      proxy.set('hang');
      const server = await start();
      expect([await call(server), proofs(server)]).toEqual([200, 1]);
    });
  });
});
