import { Logger } from '@nestjs/common';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { ask, bearer, startTestServer, type TestServer } from '../support/test-server.js';
import { Random } from './random.js';
import { jsonValue, rpcCall } from './rpc-messages.js';

const MESSAGES = Number(process.env['FUZZ_MESSAGES'] ?? 300);
const SEED = Number(process.env['FUZZ_SEED'] ?? 7);
const AT_ONCE = 8;
const PLENTY = {
  TIDB_MCP_DAILY_QUOTA: '1000000000',
  TIDB_MCP_TENANT_BURST: '1000000',
  TIDB_MCP_GLOBAL_BURST: '1000000',
  TIDB_MCP_PREAUTH_BURST: '1000000',
};

let server: TestServer;
let errors: ReturnType<typeof vi.spyOn>;
const key = (): string => `${server.sandbox.publicKey}:${server.sandbox.privateKey}`;

beforeAll(async () => {
  server = await startTestServer(PLENTY);
});
afterAll(() => server.stop());
beforeEach(() => {
  errors = vi.spyOn(Logger.prototype, 'error').mockImplementation(() => undefined);
});
afterEach(() => vi.restoreAllMocks());

async function each(run: (random: Random, replay: string) => Promise<void>): Promise<void> {
  for (let first = 0; first < MESSAGES; first += AT_ONCE) {
    const batch = Array.from({ length: Math.min(AT_ONCE, MESSAGES - first) }, (_, i) =>
      run(new Random(SEED * 999_983 + first + i), `seed ${SEED}, message ${first + i}`),
    );
    await Promise.all(batch);
  }
}

/** The JSON-RPC messages in an answer, framed as events or not. */
function messagesOf(text: string): { id?: unknown; error?: { code: number } }[] {
  if (text === '') return [];
  if (text.startsWith('{')) return [JSON.parse(text)];
  return [...text.matchAll(/^data: (.+)$/gm)].map(([, data = '']) => JSON.parse(data));
}

/** Every path that an operation has at TiDB Cloud, ids filled in. */
const OPERATION_PATHS =
  /^\/v1beta1\/(clusters(\/[\w-]{1,64}(\/branches(\/[\w-]{1,64})?)?)?|regions|projects|backups(\/[\w-]{1,64})?)(\?|$)/;

describe('Odd messages to /mcp', () => {
  it('get an answer of the protocol, and are never a fault of ours', async () => {
    const seen = new Set<number>();
    await each(async (random, replay) => {
      const { headers: some, body } = rpcCall(random);
      const headers = { ...some, authorization: `Bearer ${key()}` };
      const answer = await ask(`${server.url}/mcp`, {
        method: 'POST',
        headers,
        body,
        signal: AbortSignal.timeout(5000),
      });
      seen.add(answer.status);
      const told = `${replay}: ${JSON.stringify(headers)} ${body.slice(0, 600)} -> ${answer.text.slice(0, 300)}`;
      expect([200, 202, 400, 404], told).toContain(answer.status);
      for (const message of messagesOf(answer.text)) {
        expect(message.error?.code, told).not.toBe(-32603);
        expect(['string', 'number', 'undefined', 'object'], told).toContain(typeof message.id);
      }
    });
    expect(errors.mock.calls).toEqual([]);
    expect([...seen]).toEqual(expect.arrayContaining([200, 202, 400, 404]));
  });
});

describe('Odd parameters of /v1', () => {
  it('are 400 or look for nothing but what the operation looks for', async () => {
    const odd = (random: Random): string =>
      random.pick([
        random.text(1 + random.below(80), 0x21, 0x2fff),
        '..',
        '%2e%2e',
        '.',
        'a/b',
        'a%2fb',
        '1:reset',
        '1?x=1',
        '1#x',
        '\u0000',
        'x'.repeat(65),
        '1',
        '__proto__',
        '-'.repeat(64),
        String(random.below(1000)),
      ]);
    const before = server.sandbox.requests.length;
    await each(async (random, replay) => {
      const id = (): string => encodeURIComponent(odd(random));
      const path = random.pick([
        () => `/v1/clusters/${id()}`,
        () => `/v1/clusters/${id()}/branches`,
        () => `/v1/clusters/${id()}/branches/${id()}`,
        () => '/v1/clusters',
        () => '/v1/backups',
        () => '/v1/regions',
        () => '/v1/projects',
        () => '/v1/capabilities',
      ])();
      const query = Array.from({ length: random.below(4) }, () => {
        const name = random.pick([
          'pageSize',
          'pageToken',
          'clusterId',
          'filter',
          'cloudProvider',
          '__proto__',
          odd(random),
        ]);
        return `${encodeURIComponent(name)}=${encodeURIComponent(odd(random))}`;
      });
      const url = `${server.url}${path}${query.length > 0 ? `?${query.join('&')}` : ''}`;
      const answer = await ask(url, { ...bearer(key()), signal: AbortSignal.timeout(5000) });
      const told = `${replay}: ${url} -> ${answer.text.slice(0, 300)}`;
      expect([200, 400, 404, 409], told).toContain(answer.status);
      if (answer.status !== 200) expect(answer.json(), told).toMatchObject({ status: answer.status });
    });
    const asked = server.sandbox.requests.slice(before).map(({ path }) => path);
    expect(asked.filter((path) => !OPERATION_PATHS.test(path))).toEqual([]);
    expect(server.sandbox.requests.slice(before).every(({ method }) => method === 'GET')).toBe(true);
    expect(errors.mock.calls).toEqual([]);
  });

  it('in a body, where a route takes one, are as odd as they like', async () => {
    await each(async (random, replay) => {
      const path = random.pick(['/v1/preflight', '/v1/confirm']);
      const body = jsonValue(random);
      const headers = { authorization: `Bearer ${key()}`, 'content-type': 'application/json' };
      const answer = await ask(server.url + path, { method: 'POST', headers, body, signal: AbortSignal.timeout(5000) });
      expect(answer.status, `${replay}: ${path} ${body.slice(0, 500)} -> ${answer.text.slice(0, 300)}`).toBeLessThan(
        500,
      );
    });
    expect(errors.mock.calls).toEqual([]);
  });
});
