import { execFile } from 'node:child_process';
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { promisify } from 'node:util';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { requestText, sendRaw } from '../support/raw-http.js';
import { waitUntil } from '../support/wait-until.js';
import { ask, rpc, startTestServer, type TestServer } from '../support/test-server.js';

let server: TestServer;
const auth = (): string => `Bearer ${server.sandbox.publicKey}:${server.sandbox.privateKey}`;

beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.stop());
/** Every bucket refills between the tests. */
beforeEach(() => server.clock.advance(60_000));

/** Posts to `/mcp` from a process of its own, which goes on sending while the server answers; what each post came to. */
async function postElsewhere(size: number, times: number, authorization = ''): Promise<unknown> {
  const program = `const [url, size, times, authorization] = process.argv.slice(1);
    const headers = { 'content-type': 'application/json', ...(authorization === '' ? {} : { authorization }) };
    const outcomes = [];
    for (let i = 0; i < times; i += 1) {
      const answer = fetch(url, { method: 'POST', headers, body: 'x'.repeat(size) });
      outcomes.push(await answer.then(async (r) => (await r.text(), r.status), (e) => e.cause?.code ?? e.message));
    }
    console.log(JSON.stringify(outcomes));`;
  const args = ['--input-type=module', '-e', program, '--', `${server.url}/mcp`, size, times, authorization].map(
    String,
  );
  return JSON.parse((await promisify(execFile)(process.execPath, args)).stdout) as unknown;
}

describe('A body', () => {
  const post = (body: string, headers: Record<string, string> = {}) =>
    ask(`${server.url}/mcp`, {
      method: 'POST',
      body,
      headers: { authorization: auth(), 'content-type': 'application/json', ...headers },
    });

  it.each([
    ['is no JSON', '{', {}, 400, -32700],
    ['is no JSON, however many values begin in it,', '['.repeat(3000), {}, 400, -32700],
    ['is a batch', '[]', {}, 400, -32600],
    ['is empty', '', {}, 400, -32700],
    ['has another type', '{}', { 'content-type': 'text/plain' }, 415, -32600],
    ['has another charset', '{}', { 'content-type': 'application/json; charset=latin1' }, 415, -32600],
    ['is compressed', '{}', { 'content-encoding': 'gzip' }, 415, -32600],
    ['is too large', 'x'.repeat(1_048_577), {}, 413, -32600],
  ])('that %s is turned away, after the layers and authentication', async (_, body, headers, status, code) => {
    const answer = await post(body, headers);
    expect(answer.status).toBe(status);
    expect(answer.json()).toMatchObject({ error: { code }, id: null });
  });

  it('of a refused caller is not read: ten megabytes stay with their sender', async () => {
    for (let i = 0; i < 5; i += 1) await ask(`${server.url}/mcp`);
    const size = 10_000_000;
    const head = requestText('POST /mcp', { 'content-type': 'application/json', 'content-length': String(size) });
    const chunks = Array.from({ length: 160 }, () => Buffer.alloc(size / 160, 'x'));
    const answer = await sendRaw(server.port, [head, ...chunks], { quietMs: 300 });
    expect(answer.status).toBe(429);
    expect(answer.head.toLowerCase()).toContain('connection: close');
  });

  it('of a refused caller does not keep the refusal from a client that sends it in one go', async () => {
    for (let i = 0; i < 5; i += 1) await ask(`${server.url}/mcp`);
    const sockets: Socket[] = [];
    const http: Server = server.running.app.getHttpServer();
    const onConnection = (socket: Socket): void => void sockets.push(socket);
    http.on('connection', onConnection);
    expect(await postElsewhere(100_000, 5)).toEqual(Array.from({ length: 5 }, () => 429));
    expect(await postElsewhere(10_000_000, 5)).toEqual(Array.from({ length: 5 }, () => 429));
    http.off('connection', onConnection);
    expect(sockets.length).toBe(10);
    for (const { bytesRead } of sockets) expect(bytesRead).toBeLessThanOrEqual(128 * 1024);
    await waitUntil('every connection is closed', () => sockets.every(({ destroyed }) => destroyed));
  });

  it('that is far too large is refused in words that its sender gets to read', async () => {
    expect(await postElsewhere(10_000_000, 5, auth())).toEqual(Array.from({ length: 5 }, () => 413));
  });

  it('that holds more values than any message needs is refused before a schema looks at each of them', async () => {
    const icons = Array.from({ length: 300_000 }, () => ({}));
    const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'x', version: '1', icons } };
    const message = { jsonrpc: '2.0', id: 1, method: 'initialize', params };
    const key = auth().slice('Bearer '.length);
    const onMcp = await ask(`${server.url}/mcp`, rpc(message, key));
    expect([onMcp.status, onMcp.json().error]).toMatchObject([
      400,
      { code: -32600, data: { code: 'INVALID_ARGUMENT' } },
    ]);
    const onV1 = await ask(`${server.url}/v1/confirm`, rpc({ confirmationToken: icons }, key));
    expect([onV1.status, onV1.json().detail]).toEqual([400, 'The body may hold at most 1000 values.']);
  });

  it.each(['application/json;', 'Application/JSON; charset="UTF-8"', 'application/json ; charset=utf-8 ; '])(
    'is JSON where its type is written %j',
    async (type) => {
      const init = { method: 'POST', headers: { authorization: auth(), 'content-type': type }, body: '{}' };
      const answer = await ask(`${server.url}/v1/confirm`, init);
      expect([answer.status, answer.json().errors]).toMatchObject([400, [{ path: 'confirmationToken' }]]);
    },
  );

  it('with a member that every schema leaves out without a word is refused with one', async () => {
    const input = '{"operation":"create_cluster","arguments":{"displayName":"x","labels":{"__proto__":"y"}}}';
    const answer = await ask(`${server.url}/v1/preflight`, rpc(input, auth().slice('Bearer '.length)));
    expect([answer.status, answer.json().detail]).toEqual([400, 'No member in the body may be named __proto__.']);
  });

  it('is asked for only once the caller is admitted: 100-continue', async () => {
    const headers = { 'content-type': 'application/json', 'content-length': '2', expect: '100-continue' };
    const unproven = await sendRaw(server.port, [requestText('POST /mcp', headers)]);
    expect([unproven.status, unproven.all.includes('100 Continue')]).toEqual([401, false]);
    const proven = await sendRaw(server.port, [requestText('POST /mcp', { ...headers, authorization: auth() })]);
    expect(proven.all.startsWith('HTTP/1.1 100 Continue')).toBe(true);
    for (let i = 0; i < 5; i += 1) await ask(`${server.url}/mcp`);
    const refusedCaller = await sendRaw(server.port, [requestText('POST /mcp', headers)]);
    expect([refusedCaller.status, refusedCaller.all.includes('100 Continue')]).toEqual([429, false]);
  });

  it('is not asked for where the client speaks HTTP/1.0, which knows no interim answers', async () => {
    const headers = { 'content-type': 'application/json', 'content-length': '2', expect: '100-continue' };
    const text = requestText('POST /mcp', { ...headers, authorization: auth() }, '{}').replace('HTTP/1.1', 'HTTP/1.0');
    const { status, all } = await sendRaw(server.port, [text]);
    expect([status, all.includes('100 Continue')]).toEqual([400, false]);
  });

  it('that breaks off is forgotten without a fault', async () => {
    const headers = { 'content-type': 'application/json', 'content-length': '100', authorization: auth() };
    await sendRaw(server.port, [requestText('POST /mcp', headers, '{"half":')], { untilMs: 100 });
    expect((await ask(`${server.url}/health/live`)).status).toBe(200);
  });
});
