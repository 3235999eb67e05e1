import type { Socket } from 'node:net';
import { Logger } from '@nestjs/common';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { ask, bearer, callTool, rpc, startTestServer, type TestServer } from '../support/test-server.js';
import { answer, proving, type Script, ScriptedUpstream, signed } from './scripted-upstream.js';

const PUBLIC = 'public-half-of-the-key';
const PRIVATE = 'private-half-of-the-key';
const KEY = `${PUBLIC}:${PRIVATE}`;
const TIMEOUT_MS = 400;

let upstream: ScriptedUpstream;
/** Where redirects and challenges would like the credential to go. */
let canary: ScriptedUpstream;
let server: TestServer;
let errors: ReturnType<typeof vi.spyOn>;

beforeAll(async () => {
  upstream = await ScriptedUpstream.start();
  canary = await ScriptedUpstream.start();
  server = await startTestServer({
    TIDB_MCP_SERVERLESS_API_URL: upstream.url,
    TIDB_MCP_IAM_API_URL: upstream.url,
    TIDB_MCP_UPSTREAM_TIMEOUT_MS: String(TIMEOUT_MS),
    TIDB_MCP_PREAUTH_BURST: '1000000',
    TIDB_MCP_TENANT_BURST: '1000000',
    TIDB_MCP_GLOBAL_BURST: '1000000',
    TIDB_MCP_DAILY_QUOTA: '1000000',
  });
});
afterAll(async () => {
  await server.stop();
  await upstream.close();
  await canary.close();
});
beforeEach(() => {
  upstream.received = '';
  errors = vi.spyOn(Logger.prototype, 'error').mockImplementation(() => undefined);
});
afterEach(() => {
  vi.restoreAllMocks();
  expect(canary.connections).toBe(0);
});

const write =
  (text: string): Script =>
  (socket) =>
    socket.write(Buffer.from(text, 'latin1'));
const challenge = (...headers: string[]): Script => write(answer('401 Unauthorized', '{}', headers));
const drip =
  (head: string, piece: string): Script =>
  (socket) => {
    socket.write(head);
    const timer = setInterval(() => socket.write(piece), 20);
    socket.on('close', () => clearInterval(timer));
  };
const flood =
  (head: string): Script =>
  (socket) => {
    socket.write(head);
    const more = (): void => {
      if (!socket.destroyed) socket.write(Buffer.alloc(262_144, 0x20), () => setImmediate(more));
    };
    more();
  };

const CANARY = (): string => canary.url;
const JSON_TYPE = 'Content-Type: application/json';

/** Answers to anything; none of them is TiDB Cloud's. */
const HOSTILE: [string, () => Script][] = [
  ['is nothing and closes', () => (socket) => socket.destroy()],
  ['is nothing at all', () => () => undefined],
  ['is reset', () => (socket: Socket) => socket.resetAndDestroy()],
  ['is no HTTP', () => write('SSH-2.0-OpenSSH_9.6\r\n')],
  ['is random bytes', () => write('\u0000\u00ff\u0001'.repeat(1000))],
  ['redirects elsewhere', () => write(answer('302 Found', '', [`Location: ${CANARY()}/`]))],
  [
    'redirects elsewhere, keeping the method',
    () => write(answer('307 Temporary Redirect', '', [`Location: ${CANARY()}/`])),
  ],
  ['redirects to itself', () => write(answer('301 Moved', '', ['Location: /v1beta1/clusters']))],
  [
    'names another place',
    () => write(answer('200 OK', '', [`Refresh: 0; url=${CANARY()}`, `Content-Location: ${CANARY()}`])),
  ],
  ['asks for Basic', () => challenge('WWW-Authenticate: Basic realm="x"')],
  ['asks for Bearer', () => challenge(`WWW-Authenticate: Bearer resource_metadata="${CANARY()}"`)],
  [
    'asks for Digest elsewhere',
    () => challenge(`WWW-Authenticate: Digest realm="r", domain="${CANARY()}", nonce="n", qop="auth", stale=true`),
  ],
  [
    'asks for Digest for ever',
    () => challenge('WWW-Authenticate: Digest realm="r", nonce="n", qop="auth", stale=true'),
  ],
  [
    'asks for an unknown algorithm',
    () => challenge('WWW-Authenticate: Digest realm="r", nonce="n", algorithm=SHA-512-256'),
  ],
  ['asks for auth-int alone', () => challenge('WWW-Authenticate: Digest realm="r", nonce="n", qop="auth-int"')],
  [
    'asks with quotes and backslashes',
    () => challenge('WWW-Authenticate: Digest realm="a\\"b\\\\", nonce="\\",x=\\"", qop="auth", stale=true'),
  ],
  [
    'asks with bytes beyond ASCII',
    () => challenge('WWW-Authenticate: Digest realm="\u00c3\u00a9\u00ff", nonce="\u00fe", qop="auth", stale=true'),
  ],
  [
    'asks with a huge realm',
    () => challenge(`WWW-Authenticate: Digest realm="${'r'.repeat(9000)}", nonce="n", qop="auth"`),
  ],
  [
    'asks a hundred times',
    () => challenge(...Array.from({ length: 100 }, (_, i) => `WWW-Authenticate: Digest realm="${i}", nonce="n"`)),
  ],
  ['asks with a broken header', () => challenge('WWW-Authenticate: Digest realm="r, nonce="n')],
  ['has a head that never ends', () => drip('HTTP/1.1 200 OK\r\n', 'x: y\r\n')],
  ['has a huge head', () => write(`HTTP/1.1 200 OK\r\nx: ${'y'.repeat(100_000)}\r\n\r\n`)],
  ['has a body that drips', () => drip('HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n', ' ')],
  ['has a chunked body that drips', () => drip('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n', '1\r\n \r\n')],
  ['has a body without an end', () => flood('HTTP/1.1 200 OK\r\n\r\n')],
  ['has an error body without an end', () => flood('HTTP/1.1 500 Oops\r\n\r\n')],
  ['promises more than comes', () => write('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{')],
  ['has two lengths', () => write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}')],
  ['has a negative length', () => write('HTTP/1.1 200 OK\r\nContent-Length: -2\r\n\r\n{}')],
  ['goes on for ever with 100', () => drip('', 'HTTP/1.1 100 Continue\r\n\r\n')],
  ['switches protocols', () => write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n')],
  ['is a second answer too', () => write(answer('503 Busy') + answer('200 OK', '{"clusters":[]}'))],
  ['is a page', () => write(answer('403 Forbidden', '<html>blocked</html>', ['Content-Type: text/html']))],
  ['is a page of success', () => write(answer('200 OK', '<html>login</html>', ['Content-Type: text/html']))],
  ['is compressed', () => write(answer('200 OK', '\u001f\u008b\u0008', ['Content-Encoding: gzip']))],
  ['is no UTF-8', () => write(answer('200 OK', '"\u00ff\u00fe"', [JSON_TYPE]))],
  ['has an odd status', () => write(answer('999 Odd', '{}'))],
  ['has the status 0', () => write(answer('000 Zero', '{}'))],
  [
    'waits for ever with a 429',
    () => write(answer('429 Slow', '{}', ['Retry-After: 99999999999', 'X-Ratelimit-Reset: 1e99'])),
  ],
  [
    'waits less than nothing with a 429',
    () => write(answer('429 Slow', '{}', ['Retry-After: -5', 'X-Ratelimit-Reset: -1'])),
  ],
  ['is a 503', () => write(answer('503 Busy', '{"code":1,"message":"x","details":[]}'))],
];

/** What nothing that goes upstream or back to a caller may hold. */
function expectNoSecret(text: string): void {
  expect(text).not.toContain(PRIVATE);
  expect(text).not.toContain(Buffer.from(KEY).toString('base64'));
}

describe('An answer to a credential that is to be proven', () => {
  it.each(HOSTILE)('that %s proves nothing and gets nothing out of us', async (_, script) => {
    upstream.script = script();
    const told = await ask(`${server.url}/v1/regions`, bearer(KEY));
    // A page of success is a 2xx, which the contract takes for an acceptance; the operation then can't read it.
    expect([401, 429, 502, 503], told.text).toContain(told.status);
    if (told.status === 503) expect(Number(told.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
    expect(Number(told.headers.get('retry-after') ?? 1)).toBeLessThanOrEqual(3600);
    expectNoSecret(told.text);
    expectNoSecret(upstream.received);
    expect(told.text).not.toMatch(/html|blocked|canary|127\.0\.0\.1/);
    expect(errors.mock.calls).toEqual([]);
  });

  it.each(HOSTILE.filter(([what]) => what.startsWith('asks')))(
    'that %s is not answered with more than a Digest',
    async (_, script) => {
      upstream.script = script();
      await ask(`${server.url}/v1/regions`, bearer(KEY));
      const sent = [...upstream.received.matchAll(/\r\nauthorization: (\w+)/gi)].map(([, scheme]) => scheme);
      expect(sent.filter((scheme) => scheme !== 'Digest')).toEqual([]);
      expect(upstream.received.match(/HTTP\/1\.1/g)?.length).toBeLessThanOrEqual(3);
    },
  );
});

describe('An answer to a call of a proven credential', () => {
  beforeEach(() => server.clock.advance(120_000));

  it.each(HOSTILE)('that %s is an error that says so', async (_, script) => {
    upstream.script = proving(script());
    const told = await ask(`${server.url}/v1/regions`, bearer(KEY));
    expect([401, 429, 502, 503], told.text).toContain(told.status);
    expect(told.json().code).toMatch(/^(UPSTREAM_|UNAUTHENTICATED)/);
    expectNoSecret(told.text);
    expectNoSecret(upstream.received);
    const tool = await ask(`${server.url}/mcp`, rpc(callTool('tidb_list_regions'), KEY));
    expect([200, 401, 503]).toContain(tool.status);
    expect(errors.mock.calls).toEqual([]);
  });

  const deep: string = '{"a":'.repeat(50_000) + '1' + '}'.repeat(50_000);
  it.each([
    ['no list', '{"regions":null}'],
    ['an object for a list', '{"regions":{}}'],
    ['null in the list', '{"regions":[null]}'],
    ['odd members', '{"regions":[{"name":{"__proto__":{"x":1}},"displayName":[],"provider":1e999}]}'],
    ['prototype keys', '{"__proto__":{"regions":[]},"constructor":{}}'],
    ['a list', '[]'],
    ['a text', '"regions"'],
    ['null', 'null'],
    ['a number', '0'],
    ['fifty thousand levels', `{"regions":[${deep}]}`],
    ['a name of a million characters', `{"regions":[{"name":"${'x'.repeat(1_000_000)}@"}]}`],
    ['a hundred thousand empty items', `{"regions":[${'{},'.repeat(100_000)}{}]}`],
  ])('with JSON that nobody expects is no fault of ours: %s', async (_, body) => {
    upstream.script = proving(write(answer('200 OK', body, [JSON_TYPE])));
    const told = await ask(`${server.url}/v1/regions?pageSize=1`, bearer(KEY));
    expect([200, 502, 503], told.text.slice(0, 300)).toContain(told.status);
    expect(told.text.length).toBeLessThan(1_100_000);
    expect(errors.mock.calls).toEqual([]);
  });

  it('that speaks of people and keys is passed on without them', async () => {
    const message = `owner jane.doe@example.com said ${PRIVATE} and ${PUBLIC}`;
    const body = JSON.stringify({ code: 9, message, details: [{ secret: PRIVATE }] });
    for (const status of ['400 Bad', '403 No', '404 None', '409 Conflict', '500 Oops']) {
      upstream.script = proving(write(answer(status, body, [JSON_TYPE])));
      const told = await ask(`${server.url}/v1/regions`, bearer(KEY));
      const tool = await ask(`${server.url}/mcp`, rpc(callTool('tidb_list_regions'), KEY));
      for (const text of [told.text, tool.text]) expect(text).not.toMatch(/jane|private-half|public-half/);
    }
  });
});

describe('An upstream whose TLS is broken', () => {
  it('is away, which forgets nobody', async () => {
    const broken = await startTestServer({
      TIDB_MCP_SERVERLESS_API_URL: upstream.url.replace('http:', 'https:'),
      TIDB_MCP_UPSTREAM_TIMEOUT_MS: '400',
    });
    upstream.script = signed(write('HTTP/1.1 200 OK\r\n\r\n'));
    const told = await ask(`${broken.url}/v1/regions`, bearer(KEY));
    expect([told.status, told.json().code]).toEqual([503, 'UPSTREAM_UNAVAILABLE']);
    await broken.stop();
  });
});
