import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http';
import { get } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { freePort } from '../support/free-port.js';
import { ask, rpc } from '../support/test-server.js';
import { dockerFile } from './files.js';
import { type Running, startNginx } from './processes.js';
import { runTool, tool } from './tools.js';

const nginxTool = tool('nginx', ['-v']);
const openssl = tool('openssl', ['version']);
type Answer = (request: IncomingMessage, response: ServerResponse) => void;

/** An instance that answers whatever the test says. */
class Stub {
  asked: IncomingMessage[] = [];
  answer: Answer = (_request, response) => void response.end('ok');
  private readonly server: Server = createServer((incoming, response) => {
    incoming.resume();
    if (incoming.url?.startsWith('/health/')) return void response.end();
    this.asked.push(incoming);
    this.answer(incoming, response);
  });

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  listen(): Promise<void> {
    return new Promise((resolve) => this.server.listen(0, '127.0.0.1', resolve));
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }
}

describe.skipIf(!nginxTool.available)(`docker/nginx.conf${nginxTool.note}`, () => {
  let folder: string;
  let nginx: Running;
  let url: string;
  const stubs = [new Stub(), new Stub()] as const;
  const asked = () => stubs.flatMap((stub) => stub.asked);
  const answerWith = (answer: Answer) => stubs.forEach((stub) => (stub.answer = answer));

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'deployment-'));
    chmodSync(folder, 0o755);
    await Promise.all(stubs.map((stub) => stub.listen()));
    nginx = await startNginx(folder, [stubs[0].port, stubs[1].port]);
    url = `http://127.0.0.1:${nginx.port}`;
  }, 30_000);

  afterAll(async () => {
    await Promise.all(stubs.map((stub) => stub.close()));
    await nginx?.end();
    rmSync(folder, { recursive: true, force: true });
  });

  beforeEach(() => {
    for (const stub of stubs) stub.asked = [];
    answerWith((_request, response) => void response.end('ok'));
  });

  it("appends the caller's address to X-Forwarded-For and keeps Host and path as they were written", async () => {
    await ask(`${url}/v1/clusters/a%2Fb?pageSize=1`, { headers: { 'x-forwarded-for': '203.0.113.9' } });
    const [received] = asked();
    expect(received?.url).toBe('/v1/clusters/a%2Fb?pageSize=1');
    expect(received?.headers).toMatchObject({
      'x-forwarded-for': '203.0.113.9, 127.0.0.1',
      'x-forwarded-proto': 'http',
      host: `127.0.0.1:${nginx.port}`,
    });
  });

  it('passes each event of a stream on before the next one is there', async () => {
    answerWith((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: first\n\n');
      // Only a caller that has the first event makes the second happen.
      release = () => response.end('data: second\n\n');
    });
    let release = () => {};
    const { body } = await fetch(`${url}/mcp`, rpc({ jsonrpc: '2.0', id: 1, method: 'tools/call' }, 'a:b'));
    const reader = (body as ReadableStream<Uint8Array>).getReader();
    const read = async () => new TextDecoder().decode((await reader.read()).value);
    expect(await read()).toBe('data: first\n\n');
    release();
    expect(await read()).toBe('data: second\n\n');
    // Small events pass a buffer too; that a slow reader makes nginx collect a whole answer is what this rules out.
    expect(dockerFile('nginx.conf')).toContain('proxy_buffering off;');
  });

  it('asks for an answer once, whatever its status', async () => {
    for (const status of [429, 500, 502, 503]) {
      answerWith((_request, response) => void response.writeHead(status, { 'retry-after': '7' }).end('{}'));
      for (const stub of stubs) stub.asked = [];
      const answer = await ask(`${url}/v1/clusters`);
      expect([answer.status, answer.headers.get('retry-after'), asked().length]).toEqual([status, '7', 1]);
    }
  });

  it('passes a call on to the other instance when one breaks off, also a POST', async () => {
    stubs[0].answer = (incoming) => void incoming.socket.destroy();
    for (let turn = 0; turn < 4; turn += 1) {
      expect((await ask(`${url}/mcp`, rpc({ jsonrpc: '2.0', id: 1, method: 'ping' }, 'a:b'))).status).toBe(200);
    }
    expect(stubs[0].asked.length).toBeGreaterThan(0);
  });

  it('takes a credential of 8 KB, and writes no credential and no query into its log', async () => {
    const secret = `public:${'s'.repeat(8_000)}`;
    expect((await ask(`${url}/v1/clusters?pageToken=confidential`, rpc({}, secret))).status).toBe(200);
    const line = nginx.log().trim().split('\n').at(-1) ?? '';
    expect(JSON.parse(line)).toMatchObject({ method: 'POST', path: '/v1/clusters', status: 200, from: '127.0.0.1' });
    expect(nginx.log()).not.toMatch(/sss|confidential/);
  });

  it('reads a body to its end before an instance is troubled with it, and refuses one of more than 2 MB itself', async () => {
    const options = { host: '127.0.0.1', port: nginx.port, path: '/mcp', method: 'POST', agent: false };
    const status = await new Promise<number>((resolve, reject) => {
      const slow = request({ ...options, headers: { 'content-length': 10 } }, (answer) => {
        answer.resume();
        resolve(answer.statusCode ?? 0);
      }).on('error', reject);
      slow.write('12345', () => {
        expect(asked()).toEqual([]);
        slow.end('67890');
      });
    });
    expect(status).toBe(200);
    for (const stub of stubs) stub.asked = [];
    const tooLong = await ask(`${url}/mcp`, { method: 'POST', body: 'x'.repeat(2_200_000) });
    expect([tooLong.status, asked().length]).toEqual([413, 0]);
  });

  it("keeps an operator's console with one instance", async () => {
    for (let turn = 0; turn < 6; turn += 1) await ask(`${url}/console/data`);
    expect(new Set(stubs.map((stub) => stub.asked.length))).toEqual(new Set([0, 6]));
  });

  it.skipIf(!openssl.available)(`takes TLS as docker/tls/listen.conf.example says${openssl.note}`, async () => {
    const secure = mkdtempSync(join(tmpdir(), 'deployment-'));
    chmodSync(secure, 0o755);
    const tls = join(secure, 'tls');
    mkdirSync(tls);
    const port = await freePort();
    const example = dockerFile('tls/listen.conf.example');
    const listen = example.replaceAll('/etc/nginx/tls', tls).replace('listen 8443', `listen 127.0.0.1:${port}`);
    writeFileSync(join(tls, 'listen.conf'), listen);
    const request = ['req', '-x509', '-nodes', '-newkey', 'rsa:2048', '-subj', '/CN=localhost', '-days', '2'];
    runTool('openssl', [...request, '-keyout', join(tls, 'key.pem'), '-out', join(tls, 'certificate.pem')]);
    const front = await startNginx(secure, [stubs[0].port, stubs[1].port]);
    const status = await new Promise((resolve, reject) => {
      const options = { port, host: '127.0.0.1', path: '/v1/clusters', rejectUnauthorized: false, agent: false };
      get(options, (answer) => answer.resume().on('end', () => resolve(answer.statusCode))).on('error', reject);
    });
    await front.end();
    rmSync(secure, { recursive: true });
    expect(status).toBe(200);
    expect(asked()[0]?.headers).toMatchObject({ 'x-forwarded-proto': 'https', 'x-forwarded-for': '127.0.0.1' });
  });
});
