import { connect } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { requestText } from '../support/raw-http.js';
import { ask, bearer, startTestServer, type TestServer } from '../support/test-server.js';

let server: TestServer;
const key = (): string => `${server.sandbox.publicKey}:${server.sandbox.privateKey}`;
const call = (path = '/v1/clusters', more: Record<string, string> = {}): string =>
  requestText(`GET ${path}`, { authorization: `Bearer ${key()}`, ...more });

beforeAll(async () => {
  server = await startTestServer();
  await ask(`${server.url}/v1/capabilities`, bearer(key()));
});
afterAll(() => server.stop());
beforeEach(() => server.clock.advance(60_000));

/** Everything that comes back until the connection is closed. */
async function answersTo(...chunks: string[]): Promise<string> {
  const socket = connect(server.port, '127.0.0.1').on('error', () => undefined);
  for (const chunk of chunks) socket.write(chunk);
  return Buffer.concat(await socket.toArray()).toString('latin1');
}
const statuses = (all: string): number[] =>
  [...all.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status));
const used = async (): Promise<number> =>
  (await ask(`${server.url}/v1/capabilities`, bearer(key()))).json().limits.quota.used;

const BAD_CHUNK = 'zz\r\n';

describe('Bytes that are no request', () => {
  it.each([
    ['garbage', () => call().repeat(3) + 'GARBAGE\r\n\r\n', [200, 200, 200, 400]],
    ['garbage behind an answer that comes at once', () => call('/v1/capabilities') + 'GARBAGE\r\n\r\n', [200, 400]],
    ['garbage behind an error', () => call('/v1/nowhere') + 'GARBAGE\r\n\r\n', [404, 400]],
    ['headers beyond 16 KB', () => call() + call('/v1/clusters', { x: 'a'.repeat(17_000) }), [200, 431]],
    ['a request behind the last one', () => call('/v1/clusters', { connection: 'close' }) + call(), [200]],
    ['CONNECT', () => call() + requestText('CONNECT example.com:443'), [200]],
    ['CONNECT alone', () => requestText('CONNECT example.com:443'), []],
  ])('wait until what came before is answered: %s', async (_what, text, expected) => {
    expect(statuses(await answersTo(text()))).toEqual(expected);
  });

  it('are answered in the words of every other error, with the end of the connection', async () => {
    const [head = '', body = ''] = (await answersTo('GARBAGE\r\n\r\n')).split('\r\n\r\n');
    for (const line of ['connection: close', 'x-content-type-options: nosniff', 'cache-control: no-store']) {
      expect(head).toContain(line);
    }
    expect(head).toContain(`content-length: ${body.length}`);
    expect(JSON.parse(body)).toMatchObject({ jsonrpc: '2.0', error: { data: { code: 'INVALID_ARGUMENT' } }, id: null });
  });

  it('end a call whose body they are, at once and as a 400', async () => {
    const headers = { authorization: `Bearer ${key()}`, 'content-type': 'application/json' };
    const text = requestText('POST /mcp', { ...headers, 'transfer-encoding': 'chunked' });
    expect(statuses(await answersTo(call() + text + BAD_CHUNK))).toEqual([200, 400]);
  });

  it('cost the calls before them what they cost, and nothing more', async () => {
    const before = await used();
    await answersTo(call() + call() + 'GARBAGE\r\n\r\n');
    expect(await used()).toBe(before + 3);
  });

  it('are no fault of the server, however many come', async () => {
    const socket = connect(server.port, '127.0.0.1').on('error', () => undefined);
    socket.write(call());
    for (let n = 0; n < 20; n += 1) socket.write('GARBAGE\r\n\r\n');
    expect(statuses(Buffer.concat(await socket.toArray()).toString('latin1'))).toEqual([200, 400]);
    expect((await ask(`${server.url}/health/live`)).status).toBe(200);
  });
});
