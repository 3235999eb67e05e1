import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fingerprintOf } from '../../src/auth/identify.js';
import { DATABASE_KINDS, type ScratchDatabase, SERVER_KINDS } from '../support/control-databases.js';
import { freePort } from '../support/free-port.js';
import { TcpProxy } from '../support/tcp-proxy.js';

const CLI = resolve('dist/cli.js');

const folder = mkdtempSync(join(tmpdir(), 'tenant-command-'));
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

/** The built program in a folder of its own, as somebody calls it whose shell knows nothing of the servers but `url`. */
async function tenants(
  args: string[],
  url?: string,
  input = '',
): Promise<{ status: unknown; out: string; errors: string }> {
  const env = { PATH: process.env['PATH'], ...(url === undefined ? {} : { TIDB_MCP_CONTROL_DB_URL: url }) };
  const child = spawn(process.execPath, [CLI, 'tenants', ...args], { env, cwd: folder });
  let [out, errors] = ['', ''];
  child.stdout.on('data', (data) => (out += data));
  child.stderr.on('data', (data) => (errors += data));
  child.stdin.on('error', () => undefined).end(input);
  const status = await new Promise((ended) => child.on('close', ended));
  return { status, out, errors };
}

/** `URL` without user, password and options, as answers name it. */
function shown(url: string): string {
  if (url.startsWith('sqlite:')) return url;
  const { protocol, host, pathname } = new URL(url);
  return `${protocol}//${host}${pathname}`;
}

const ALICE = `0123456789ab${'1'.repeat(52)}`;
const BOB = `0123456789ab${'2'.repeat(52)}`;
const CAROL = `abcdefabcdef${'3'.repeat(52)}`;
const DAVE = `fedcba987654${'4'.repeat(52)}`;

describe('An operator whose shell does not know the servers’ control database', () => {
  it.each([
    ['list', []],
    ['show', ['--fingerprint', ALICE]],
    ['set', ['--fingerprint', ALICE, '--rps', '1']],
    ['clear', ['--fingerprint', ALICE]],
  ])('is told so by %s, and no database is made', async (action, args) => {
    const { status, out, errors } = await tenants([action, ...args]);
    expect([status, out]).toEqual([1, '']);
    expect(errors).toContain(`sqlite:${join(folder, 'data', 'control.db')} does not exist, and none was created`);
    expect(errors).toContain("the servers' own TIDB_MCP_CONTROL_DB_URL, which is not set here");
    expect(readdirSync(folder)).toEqual([]);
  });

  it.each([
    [['set', '--fingerprint', ALICE], 'tenants set needs --rps, --burst or --daily-quota.'],
    [['set', '--fingerprint', ALICE, '--rps', 'x'], '--rps x: '],
    [['show', '--fingerprint', 'abc'], '--fingerprint takes 64 lower-case hex digits'],
    [['clear'], 'Name the tenant by --fingerprint, by --key-stdin or by --subject'],
  ])('is told first what is wrong with the command line: %j', async (args, message) => {
    const { status, out, errors } = await tenants(args);
    expect([status, out, errors]).toEqual([78, '', expect.stringContaining(message)]);
  });

  it('is told so too where a file is named that is not there', async () => {
    const { status, errors } = await tenants(['list'], 'sqlite:./elsewhere/control.db');
    expect([status, errors]).toEqual([1, expect.stringMatching(/TIDB_MCP_CONTROL_DB_URL\.\n$/)]);
    expect(readdirSync(folder)).toEqual([]);
  });

  it.each(['list', 'set'])(
    'learns from %s which database is away, without its password',
    async (action) => {
      const url = `mysql://admin:hunter2-hunter2@127.0.0.1:${await freePort()}/limits`;
      const named = action === 'list' ? [] : ['--fingerprint', ALICE];
      const { status, errors } = await tenants([action, ...named, ...(action === 'set' ? ['--rps', '1'] : [])], url);
      const unchanged = action === 'set' ? '; nothing was changed' : '';
      expect([status, errors]).toEqual([
        1,
        `The control database ${shown(url)} could not be used (ECONNREFUSED)${unchanged}.\n`,
      ]);
    },
    20_000,
  );
});

describe.each(DATABASE_KINDS)('An operator who names tenants kept in $title', ({ available, create }) => {
  describe.skipIf(!available)('by what consoles and logs tell of them', () => {
    let scratch: ScratchDatabase;
    const run = (args: string[], input = '') => tenants(args, scratch.url, input);

    beforeAll(async () => {
      scratch = await create();
      await scratch.query('SELECT 1');
      await tenants(['set', '--fingerprint', ALICE, '--rps', '3'], scratch.url);
      for (const day of ['2026-01-01', '2026-01-02'])
        await scratch.query(`INSERT INTO quota_usage VALUES ('${CAROL}', '${day}', 5, 1)`);
      await scratch.query(`INSERT INTO quota_usage VALUES ('${BOB}', '2026-01-01', 5, 1)`);
      await scratch.query(`INSERT INTO proven_credential VALUES ('${'9'.repeat(64)}', '${DAVE}', 1, 1, 0, 1)`);
    });
    afterAll(async () => {
      await scratch.drop();
    });

    it.each([
      ['has limits of its own', ALICE, 13, 'rps 3'],
      ['has called on two days', CAROL, 12, 'as everybody'],
      ['is proven', DAVE, 12, 'as everybody'],
    ])('may give the first digits of one that %s', async (_, whole, length, expected) => {
      const { status, out } = await run(['show', '--fingerprint', whole.slice(0, length)]);
      expect([status, out]).toEqual([0, expect.stringMatching(`^${whole}  ${expected}`)]);
      expect(out).toContain(`\nIn ${shown(scratch.url)}.\n`);
    });

    it('learns which database a list is of', async () => {
      const { status, out } = await run(['list']);
      expect([status, out]).toEqual([0, expect.stringMatching(`^${ALICE}  rps 3`)]);
      expect(out.split('\n').at(-2)).toBe(`In ${shown(scratch.url)}.`);
    });

    it('is never guessed for where several or none begin so', async () => {
      const several = await run(['set', '--fingerprint', ALICE.slice(0, 12), '--rps', '1']);
      expect([several.status, several.errors]).toEqual([
        78,
        expect.stringMatching(/^2 fingerprints .* give more digits/),
      ]);
      const none = await run(['set', '--fingerprint', '000000000000', '--rps', '1']);
      expect([none.status, none.errors]).toEqual([78, expect.stringContaining('begins with 000000000000')]);
      const short = await run(['set', '--fingerprint', CAROL.slice(0, 11), '--rps', '1']);
      expect([short.status, short.errors]).toEqual([78, expect.stringContaining('at least the first 12')]);
    });

    it('sets, by the whole fingerprint, what is for a tenant that nothing is known of, and learns where it is', async () => {
      const whole = '7'.repeat(64);
      const set = await run(['set', '--fingerprint', whole, '--rps', '2']);
      expect([set.status, set.out]).toEqual([
        0,
        `${whole}  rps 2  burst default  daily-quota default\n` +
          `Stored in ${shown(scratch.url)}: in force within one flush interval at the servers that use it.\n`,
      ]);
      const cleared = await run(['clear', '--fingerprint', whole.slice(0, 12)]);
      expect([cleared.status, cleared.out]).toEqual([0, expect.stringContaining(shown(scratch.url))]);
    });

    it('sees what standard input was taken for, and whose digits those are', async () => {
      const halves = { publicKey: 'SANDBOX1', privateKey: 'forgotten' };
      for (const [input, taken, fingerprint] of [
        ['SANDBOX1', 'an OAuth token', fingerprintOf({ kind: 'oauth', token: 'SANDBOX1' })],
        ['SANDBOX1:forgotten', 'an API key', fingerprintOf({ kind: 'api-key', ...halves })],
      ] as const) {
        const { status, out } = await run(['set', '--key-stdin', '--rps', '1'], input);
        expect(status).toBe(0);
        expect(out).toMatch(`taken for ${taken}`);
        expect(out).toMatch(`fingerprint ${fingerprint.slice(0, 12)}.\n`);
      }
    });
  });
});

describe.each(SERVER_KINDS)('An operator whose change to $title is on its way', ({ available, commit, create }) => {
  describe.skipIf(!available)('when the connection is lost', () => {
    let scratch: ScratchDatabase;
    let proxy: TcpProxy;

    beforeAll(async () => {
      scratch = await create();
      proxy = await TcpProxy.forUrl(scratch.url);
      // The tables are there before anything is lost: making them commits as well.
      await tenants(['list'], scratch.url);
    });
    afterAll(async () => {
      await proxy.close();
      await scratch.drop();
    });

    const STORED = '; the change may be stored all the same';
    it.each([
      ['set', 'the answer to its commit is lost', 'after', true, STORED, 3],
      ['set', 'its commit is lost', 'before', true, STORED, undefined],
      ['set', 'it is lost before that', 'before', false, '; nothing was changed', undefined],
      ['clear', 'the answer to its commit is lost', 'after', true, STORED, undefined],
    ] as const)('is told by %s, where %s, what may have become of it', async (...row) => {
      const [action, , when, isCommit, outcome, rps] = row;
      await tenants(['clear', '--fingerprint', ALICE], scratch.url);
      if (action === 'clear') await tenants(['set', '--fingerprint', ALICE, '--rps', '5'], scratch.url);
      // Connecting commits as well.
      const cut = isCommit ? proxy.cutOn(commit, when, ALICE) : proxy.cutOn(ALICE, when);
      const change = action === 'set' ? ['--rps', '3'] : [];
      const { status, out, errors } = await tenants(
        [action, '--fingerprint', ALICE, ...change],
        proxy.url(scratch.url),
      );
      await cut;
      expect([status, out]).toEqual([1, '']);
      expect(errors).toMatch(/^The control database \S+ could not be used \(\w+\)/);
      expect(errors).toContain(`${outcome}.\n`);
      const rows = await scratch.query(`SELECT requests_per_second FROM tenant_limit WHERE fingerprint = '${ALICE}'`);
      expect(rows.map((row) => Number(row['requests_per_second']))).toEqual(rps === undefined ? [] : [rps]);
    });
  });
});
