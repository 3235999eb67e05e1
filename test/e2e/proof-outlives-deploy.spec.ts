import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { fingerprintOf } from '../../src/auth/identify.js';
import { ProofService } from '../../src/auth/proof.service.js';
import { ProofStoreService } from '../../src/proof-store/proof-store.service.js';
import { type Sandbox, startSandbox } from '../../src/sandbox/sandbox.adapter.js';
import { DATABASE_KINDS, type ScratchDatabase } from '../support/control-databases.js';
import { ask, bearer, startTestServer, type TestServer } from '../support/test-server.js';
import { waitUntil } from '../support/wait-until.js';

const SHARED_TOKEN = 'shared-token-of-a-whole-workspace';
const KEYS = Array.from({ length: 12 }, (_, n) => ({ publicKey: `KEY${n}`, privateKey: `private-${n}` }));
type Key = (typeof KEYS)[number];
const credential = ({ publicKey, privateKey }: Key): string => `${publicKey}:${privateKey}`;
const fingerprint = (key: Key): string => fingerprintOf({ kind: 'api-key', ...key });
const ROWS = 'SELECT fingerprint, tenant FROM proven_credential ORDER BY fingerprint';

describe.each(DATABASE_KINDS)('Proof that outlives a deploy, on $title', ({ available, create }) => {
  describe.skipIf(!available)('from one address whose budget is spent', () => {
    let scratch: ScratchDatabase;
    let sandbox: Sandbox;
    const running: TestServer[] = [];

    const start = async (env: Record<string, string> = {}): Promise<TestServer> => {
      const server = await startTestServer(
        { TIDB_MCP_CONTROL_DB_URL: scratch.url, TIDB_MCP_PERSIST_PROOF: 'true', ...env },
        {},
        sandbox,
      );
      running.push(server);
      return server;
    };
    const stop = async (server: TestServer): Promise<void> => {
      running.splice(running.indexOf(server), 1);
      await server.stop();
    };
    const exchange = (server: TestServer): Promise<void> =>
      server.running.app.get(ProofStoreService, { strict: false }).exchangeNow();
    const get = (server: TestServer, key: Key, path = 'capabilities') =>
      ask(`${server.url}/v1/${path}`, bearer(credential(key)));
    const outcome = async (server: TestServer, key: Key): Promise<string> => {
      const { status, json } = await get(server, key);
      return status === 429 ? json().limit : String(status);
    };
    const outcomes = async (server: TestServer): Promise<string[]> => {
      const all: string[] = [];
      for (const key of KEYS) all.push(await outcome(server, key));
      return all;
    };
    const proofs = (server: TestServer): number => server.running.app.get(ProofService, { strict: false }).count();
    const proveAll = async (server: TestServer): Promise<void> => {
      for (const key of KEYS) {
        server.clock.advance(1_000);
        expect(await outcome(server, key)).toBe('200');
      }
    };
    const spendAddress = async (server: TestServer): Promise<void> => {
      for (let n = 0; n < 5; n += 1) expect((await ask(`${server.url}/v1/capabilities`)).status).toBe(401);
      expect((await ask(`${server.url}/v1/capabilities`)).status).toBe(429);
    };
    const every = (what: string): string[] => KEYS.map(() => what);

    beforeAll(async () => {
      scratch = await create();
    });
    beforeEach(async () => {
      sandbox = await startSandbox({ rateLimitPerMinute: 100_000, keys: KEYS });
    });
    afterEach(async () => {
      await Promise.all(running.splice(0).map((server) => server.stop()));
      await sandbox.close();
      await scratch.query('DELETE FROM proven_credential');
    });
    afterAll(async () => {
      await scratch.drop();
    });

    it('a restart lets every tenant through without one pre-auth token, with its count of the day', async () => {
      const before = await start();
      await proveAll(before);
      await stop(before);
      const after = await start();
      await spendAddress(after);
      expect(await outcomes(after)).toEqual(every('200'));
      expect((await get(after, KEYS[0]!)).json().limits.quota.used).toBe(3);
    });

    it('without it every tenant waits at the door again, and nothing is stored', async () => {
      const env = { TIDB_MCP_PERSIST_PROOF: 'false' };
      const before = await start(env);
      await proveAll(before);
      await stop(before);
      expect(await scratch.query(ROWS)).toEqual([]);
      const after = await start(env);
      await spendAddress(after);
      expect(await outcomes(after)).toEqual(every('preauth'));
    });

    it('a key revoked meanwhile gets its 401 and is then anonymous, on both of two instances', async () => {
      const before = await start();
      await proveAll(before);
      await stop(before);
      const env = { TIDB_MCP_QUOTA_FLUSH_SECONDS: '1' };
      const [a, b] = [await start(env), await start(env)];
      const [revoked, other] = [KEYS[3]!, KEYS[4]!];
      sandbox.rejectKey(revoked.publicKey);
      await Promise.all([spendAddress(a), spendAddress(b)]);
      expect([proofs(a), proofs(b)]).toEqual([12, 12]);
      expect([await outcome(a, revoked), await outcome(a, revoked)]).toEqual(['401', 'preauth']);
      // One lag: the interval, its jitter, and the read after it.
      await waitUntil('forgotten by the other', () => proofs(b) === 11, 5_000);
      expect(await outcome(b, revoked)).toBe('preauth');
      expect([await outcome(a, other), await outcome(b, other)]).toEqual(['200', '200']);
      await stop(a);
      const later = await start();
      await spendAddress(later);
      expect([await outcome(later, revoked), await outcome(later, other)]).toEqual(['preauth', '200']);
    });

    it('a use of a cached context brings nothing back, and being accepted again does', async () => {
      const [a, b] = [await start(), await start()];
      const key = KEYS[0]!;
      expect(await outcome(a, key)).toBe('200');
      await exchange(a);
      await exchange(b);
      sandbox.rejectKey(key.publicKey);
      b.clock.advance(1_000);
      expect(await outcome(b, key)).toBe('401');
      await exchange(b);
      a.clock.advance(2_000);
      expect(await outcome(a, key)).toBe('200');
      await exchange(a);
      expect(await outcome(a, key)).toBe('401');
      await exchange(b);
      expect([proofs(a), proofs(b)]).toEqual([0, 0]);
      sandbox.acceptKey(key.publicKey);
      b.clock.advance(10_000);
      expect(await outcome(b, key)).toBe('200');
      await exchange(b);
      a.clock.advance(10_000);
      await exchange(a);
      await spendAddress(a);
      expect(await outcome(a, key)).toBe('200');
    });

    it('24 idle hours hold over restarts', async () => {
      const before = await start();
      await proveAll(before);
      await stop(before);
      await scratch.query('UPDATE proven_credential SET used_at = used_at - 86380000');
      await scratch.query(
        `UPDATE proven_credential SET used_at = used_at - 86400000 WHERE fingerprint = '${fingerprint(KEYS[0]!)}'`,
      );
      const after = await start();
      await spendAddress(after);
      expect([await outcome(after, KEYS[0]!), await outcome(after, KEYS[1]!)]).toEqual(['preauth', '200']);
      expect(proofs(after)).toBe(11);
      after.clock.advance(25_000);
      expect(proofs(after)).toBe(1);
    });

    it('tokens of one OAuth subject have one budget from their very first requests on', async () => {
      const env = { TIDB_MCP_OAUTH_USERINFO_URL: sandbox.userinfoUrl };
      const tokens = [sandbox.issueToken('mei'), sandbox.issueToken('mei')];
      const call = async (server: TestServer, token: string): Promise<string> => {
        const { status, json } = await ask(`${server.url}/v1/capabilities`, bearer(token));
        return status === 429 ? json().limit : String(status);
      };
      const before = await start(env);
      for (const token of tokens) expect(await call(before, token)).toBe('200');
      await stop(before);
      const after = await start(env);
      await spendAddress(after);
      const answers = await Promise.all(Array.from({ length: 60 }, (_, n) => call(after, tokens[n % 2]!)));
      expect(answers.filter((answer) => answer === '200')).toHaveLength(20);
      expect(new Set(answers)).toEqual(new Set(['200', 'tenant']));
      expect(new Set((await scratch.query(ROWS)).map((row) => row['tenant'])).size).toBe(1);
    });

    it('fingerprints alone are stored, and nothing of shared tokens', async () => {
      const server = await start({
        TIDB_MCP_V1_TOKENS: SHARED_TOKEN,
        TIDB_CLOUD_PUBLIC_KEY: KEYS[0]!.publicKey,
        TIDB_CLOUD_PRIVATE_KEY: KEYS[0]!.privateKey,
      });
      expect((await ask(`${server.url}/v1/capabilities`, bearer(SHARED_TOKEN))).status).toBe(200);
      expect(await outcome(server, KEYS[1]!)).toBe('200');
      await exchange(server);
      const [stored] = [fingerprint(KEYS[1]!)];
      expect((await scratch.query(ROWS)).map((row) => ({ ...row }))).toEqual([{ fingerprint: stored, tenant: stored }]);
      const columns = Object.keys((await scratch.query('SELECT * FROM proven_credential'))[0] ?? {});
      expect(columns).toEqual(['fingerprint', 'tenant', 'accepted_at', 'used_at', 'rejected_at', 'updated_at']);
    });
  });
});
