import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import type { UpstreamSession } from '../../src/request/credential.js';
import { createCluster, listClusters } from '../../src/tidb-cloud/endpoints.js';
import { createClient, HandClock, staying, type Harness } from './harness.js';

const LIST = listClusters({});
const CREATE = createCluster({ displayName: 'new-cluster', region: { name: 'regions/aws-us-east-1' } });
const KEY: UpstreamSession['credential'] = { kind: 'api-key', publicKey: 'pub', privateKey: 'very-private' };
const TOKEN: UpstreamSession['credential'] = { kind: 'oauth', token: 'token' };
const ERROR = '{"code":7,"message":"no","details":[]}';

/** Bytes to answer one request with; `cut` closes the connection behind them. */
type Answer = string | { cut: string };

let server: Server;
let harness: Harness;
let requests: string[];

function http(status: string, body = '', headers = ''): string {
  return `HTTP/1.1 ${status}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n${headers}\r\n${body}`;
}

const CHALLENGE = http('401 Unauthorized', ERROR, 'WWW-Authenticate: Digest realm="r", nonce="n", qop="auth"\r\n');

/** The first request in what has arrived, or undefined as long as it is not whole. */
function wholeRequest(text: string): string | undefined {
  const head = text.indexOf('\r\n\r\n') + 4;
  if (head < 4) return undefined;
  const length = Number(/\r\ncontent-length: (\d+)/i.exec(text.slice(0, head))?.[1] ?? 0);
  return text.length < head + length ? undefined : text.slice(0, head + length);
}

/** A server that answers with these bytes, request by request, and keeps what it was sent. */
async function start(answers: Answer[], timeoutMs = 3000): Promise<void> {
  requests = [];
  server = createServer((socket: Socket) => {
    let arrived = '';
    socket.on('error', () => undefined);
    socket.on('data', (data) => {
      arrived += data.toString('latin1');
      const request = wholeRequest(arrived);
      if (request === undefined) return;
      arrived = arrived.slice(request.length);
      requests.push(request);
      const answer = answers.shift() ?? { cut: '' };
      if (typeof answer === 'string') socket.write(answer);
      else socket.end(answer.cut);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  harness = createClient({ serverlessUrl: url, iamUrl: url }, new HandClock(), timeoutMs);
}

afterEach(async () => {
  await harness.client.onApplicationShutdown();
  await new Promise((resolve) => server.close(resolve));
});

function ask(credential = TOKEN, request = LIST): ReturnType<Harness['client']['request']> {
  return harness.client.request({ credential }, request, staying());
}

function validate(credential: UpstreamSession['credential']): ReturnType<Harness['client']['validate']> {
  return harness.client.validate({ credential }, staying());
}

describe('Whoever answers in place of TiDB Cloud', () => {
  it.each<[string, Answer[]]>([
    ['a 403 without a question for the credential', [http('403 Forbidden', ERROR)]],
    ['a 403 of a firewall to a signed request', [CHALLENGE, http('403 Forbidden', '<html>blocked</html>')]],
    ['a 404 to a signed request', [CHALLENGE, http('404 Not Found', ERROR)]],
    ['a success that is no JSON', [CHALLENGE, http('200 OK', '<html>welcome</html>')]],
    ['a 401 without a challenge', [http('401 Unauthorized', ERROR)]],
    ['a question for Basic', [http('401 Unauthorized', ERROR, 'WWW-Authenticate: Basic realm="r"\r\n')]],
    ['a redirect', [CHALLENGE, http('302 Found', '', 'Location: http://127.0.0.1:1/\r\n')]],
    ['a proxy that wants to be paid', [http('407 Proxy Authentication Required')]],
  ])('neither proves nor rejects a key by %s', async (_title, answers) => {
    await start(answers);
    expect(await validate(KEY)).toEqual({ kind: 'unavailable' });
  });

  it('accepts a key by a success, although nobody asked for the credential', async () => {
    await start([http('200 OK', '{"clusters":[]}')]);
    expect(await validate(KEY)).toEqual({ kind: 'accepted' });
  });

  it('never sees the private half of a key', async () => {
    await start([CHALLENGE, http('200 OK', '{}')]);
    await validate(KEY);
    expect(requests).toHaveLength(2);
    expect(requests.join('')).not.toContain('very-private');
    expect(requests[0]).not.toContain('pub');
    expect(requests[1]).toContain('username="pub"');
  });

  it('accepts a token by a 403 only in the words of TiDB Cloud', async () => {
    await start([http('403 Forbidden', ERROR), http('403 Forbidden', 'blocked')]);
    expect(await validate(TOKEN)).toEqual({ kind: 'accepted' });
    expect(await validate(TOKEN)).toEqual({ kind: 'unavailable' });
  });
});

describe('An upstream that speaks oddly', () => {
  it('may send word in advance', async () => {
    await start([`HTTP/1.1 103 Early Hints\r\nLink: <x>\r\n\r\n${http('200 OK', '{"a":1}')}`]);
    expect(await ask()).toEqual({ kind: 'ok', value: { a: 1 } });
  });

  it('may challenge in several headers at once', async () => {
    const headers =
      'WWW-Authenticate: Basic realm="a, b"\r\nWWW-Authenticate: Digest realm="r, s", nonce="n", qop="auth"\r\n';
    await start([http('401 Unauthorized', '', headers), http('200 OK', '{}')]);
    expect(await ask(KEY)).toMatchObject({ kind: 'ok' });
    expect(requests[1]).toContain('realm="r, s"');
  });

  it('whose success breaks off leaves a change of unknown outcome', async () => {
    await start([{ cut: 'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{"clusterId":' }]);
    expect(await ask(TOKEN, CREATE)).toEqual({ kind: 'unavailable', reason: 'connection', sent: true });
  });

  it('has said enough with a 429 whose body breaks off or never ends', async () => {
    const head = 'HTTP/1.1 429 Too Many Requests\r\nX-Ratelimit-Reset: 9\r\nContent-Length: 100\r\n\r\n{';
    await start([{ cut: head }], 200);
    expect(await ask()).toEqual({ kind: 'rate-limited', retryAfterSeconds: 9 });
    await harness.client.onApplicationShutdown();
    server.close();
    await start([head], 200);
    expect(await ask()).toEqual({ kind: 'rate-limited', retryAfterSeconds: 9 });
  });

  it.each<[string, Answer]>([
    ['no HTTP', 'SSH-2.0-OpenSSH_9.6\r\n'],
    ['headers of 20,000 characters', `HTTP/1.1 200 OK\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`],
    ['nothing and closes', { cut: '' }],
  ])('may send %s', async (_title, answer) => {
    await start([answer]);
    expect(await ask()).toEqual({ kind: 'unavailable', reason: 'connection', sent: true });
    expect(requests).toHaveLength(1);
  });

  it('may close a connection that was kept alive in the face of a change, which is then not sent again', async () => {
    await start([http('200 OK', '{}'), { cut: '' }, http('200 OK', '{}')]);
    expect(await ask()).toMatchObject({ kind: 'ok' });
    expect(await ask(TOKEN, CREATE)).toEqual({ kind: 'unavailable', reason: 'connection', sent: true });
    expect(requests.filter((request) => request.startsWith('POST'))).toHaveLength(1);
  });

  it('gets the body of a change only with the signature', async () => {
    await start([CHALLENGE, http('200 OK', '{}')]);
    await ask(KEY, CREATE);
    expect(requests[0]).toMatch(/^POST \/v1beta1\/clusters HTTP\/1\.1\r\n/);
    expect(requests[0]).not.toContain('new-cluster');
    expect(requests[1]).toContain('{"displayName":"new-cluster"');
  });
});
