import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Sandbox, startSandbox } from '../../src/sandbox/sandbox.adapter.js';
import { Program } from '../hostile/program.js';
import { DATABASE_KINDS, type ScratchDatabase } from '../support/control-databases.js';
import { ask, bearer } from '../support/test-server.js';
import { waitUntil } from '../support/wait-until.js';

const KEYS = Array.from({ length: 20 }, (_, n) => ({ publicKey: `LOAD${n}`, privateKey: `private-${n}` }));
/** Slow enough for a tenant's own rate, and for the whole instance's. */
const PAUSE_MS = 400;

/** What answers came to, by tenant; the newest instance is the one that is called. */
class Load {
  url = '';
  private readonly answers = KEYS.map(() => new Map<string, number>());
  private isOver = false;
  private readonly loops: Promise<unknown>[] = [];

  begin(): void {
    for (const [n, key] of KEYS.entries()) this.loops.push(this.run(n, `${key.publicKey}:${key.privateKey}`));
    this.loops.push(this.scan());
  }

  async end(): Promise<void> {
    this.isOver = true;
    await Promise.all(this.loops);
  }

  /** How many answers of a kind all tenants got, or how many tenants got one. */
  total(kind: string): number {
    return this.answers.reduce((sum, tenant) => sum + (tenant.get(kind) ?? 0), 0);
  }

  tenants(kind: string): number {
    return this.answers.filter((tenant) => tenant.has(kind)).length;
  }

  forget(): void {
    for (const tenant of this.answers) tenant.clear();
  }

  private async run(n: number, credential: string): Promise<void> {
    while (!this.isOver) {
      const answer = await ask(`${this.url}/v1/capabilities`, bearer(credential)).catch(() => undefined);
      const kind = answer?.status === 429 ? answer.json().limit : String(answer?.status ?? 'broken off');
      const tenant = this.answers[n]!;
      tenant.set(kind, (tenant.get(kind) ?? 0) + 1);
      await pause(PAUSE_MS);
    }
  }

  /** Somebody at the same address who never lets its budget recover. */
  private async scan(): Promise<void> {
    while (!this.isOver) {
      await ask(`${this.url}/v1/capabilities`).catch(() => undefined);
      await pause(20);
    }
  }
}

describe.each(DATABASE_KINDS)('A deploy under load, on $title', ({ available, create }) => {
  describe.skipIf(!available)('behind one address that a scanner keeps busy', () => {
    let scratch: ScratchDatabase;
    let sandbox: Sandbox;
    const running: Program[] = [];

    const start = async (): Promise<Program> => {
      const program = await Program.start({
        TIDB_MCP_CONTROL_DB_URL: scratch.url,
        TIDB_MCP_PERSIST_PROOF: 'true',
        TIDB_MCP_QUOTA_FLUSH_SECONDS: '1',
        TIDB_MCP_SERVERLESS_API_URL: sandbox.serverlessUrl,
        TIDB_MCP_IAM_API_URL: sandbox.iamUrl,
        // The first one lets all of them prove themselves, whatever the scanner does.
        TIDB_MCP_PREAUTH_RPS: running.length === 0 ? '100' : '1',
        TIDB_MCP_TELEMETRY: 'off',
      });
      running.push(program);
      return program;
    };

    const storedProofs = async (): Promise<number> => {
      const [row] = await scratch.query('SELECT COUNT(*) AS proofs FROM proven_credential');
      return Number(row?.['proofs']);
    };

    beforeAll(async () => {
      scratch = await create();
      sandbox = await startSandbox({ rateLimitPerMinute: 100_000, keys: KEYS });
    });
    afterAll(async () => {
      await Promise.all(running.map((program) => program.stop()));
      await sandbox.close();
      await scratch.drop();
    });

    it('refuses no tenant at the door, and a key that was revoked meanwhile is anonymous at once', async () => {
      const load = new Load();
      const before = await start();
      load.url = before.url;
      load.begin();
      await waitUntil('all are proven', () => load.tenants('200') === KEYS.length);
      // A proof is the others' with the next flush; who proves himself later than that pays at the new one, too.
      await waitUntil('all proofs are stored', async () => (await storedProofs()) === KEYS.length);
      const after = await start();
      load.forget();
      load.url = after.url;
      await pause(PAUSE_MS);
      expect(await before.stop()).toBe(0);
      await waitUntil('all were served by the new one', () => load.tenants('200') === KEYS.length);
      expect([load.total('preauth'), load.total('401')]).toEqual([0, 0]);
      const revoked = KEYS[0]!;
      sandbox.rejectKey(revoked.publicKey);
      const last = await start();
      load.forget();
      load.url = last.url;
      await waitUntil('it is turned away', () => load.tenants('preauth') === 1);
      await waitUntil('the others were served', () => load.tenants('200') === KEYS.length - 1);
      await load.end();
      expect([load.total('401'), load.tenants('preauth')]).toEqual([1, 1]);
    }, 60_000);
  });
});
