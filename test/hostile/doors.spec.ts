import type { Server } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { CONNECTION_BOUNDS } from '../../src/http/connection-bounds.adapter.js';
import { FrontDoorService } from '../../src/http/front-door.service.js';
import { readDocument, section, tableRows } from '../docs/documents.js';
import { requestText, sendRaw } from '../support/raw-http.js';
import { ask, bearer, callTool, rpc, startTestServer, type TestServer } from '../support/test-server.js';

const PAGE = 'https://app.example';
const ADMIN = 'admin-token-of-the-operator';

let server: TestServer;
const key = (): string => `${server.sandbox.publicKey}:${server.sandbox.privateKey}`;

beforeAll(async () => {
  server = await startTestServer({ TIDB_MCP_ALLOWED_ORIGINS: PAGE, TIDB_MCP_ADMIN_TOKEN: ADMIN });
});
afterAll(() => server.stop());
beforeEach(() => server.clock.advance(60_000));

describe('The folder of the documents', () => {
  const tricks = [
    '/docs/../../package.json',
    '/docs/../server.js',
    '/docs/..%2f..%2f..%2fetc/passwd',
    '/docs/%2e%2e/%2e%2e/package.json',
    '/docs/%00',
    '/docs/%5c..%5c..%5cpackage.json',
    '/docs//etc/passwd',
    '/docs/package.json',
    '/docs/swagger-ui-bundle.js.map',
    '/docs/%73wagger-ui.css',
    '/%64ocs/package.json',
    '/docs/LICENSE',
    '/docs/docs/swagger-ui-init.js',
    '/docs/index.html/',
  ];

  it.each(tricks)('shows nothing but what its page needs, and looking around in it is paid for: %s', async (path) => {
    for (let i = 0; i < 5; i += 1) expect((await sendRaw(server.port, [requestText(`GET ${path}`)])).status).toBe(404);
    expect((await sendRaw(server.port, [requestText(`GET ${path}`)])).status).toBe(429);
  });

  it('shows a whole page, which runs no script but its own and can be framed by nobody', async () => {
    const page = await ask(`${server.url}/docs`);
    const files = [...page.text.matchAll(/(?:src|href)="\.\/docs\/([^"]+)"/g)].map(([, file]) => file);
    expect(files).toContain('swagger-ui-bundle.js');
    for (const file of files) {
      const answer = await fetch(`${server.url}/docs/${file}`);
      await answer.body?.cancel();
      expect([file, answer.status, answer.headers.get('x-content-type-options')]).toEqual([file, 200, 'nosniff']);
    }
    const inline = page.text.match(/<script(?![^>]*\bsrc=)[^>]*>|\son\w+=|javascript:/gi);
    expect(inline).toBeNull();
    const policy = page.headers.get('content-security-policy') ?? '';
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy.split(';').find((part) => part.includes('script-src'))).not.toContain('unsafe');
    expect(page.headers.get('referrer-policy')).toBe('no-referrer');
    expect(page.headers.get('x-frame-options')).toBe('DENY');
  });
});

describe('Every answer', () => {
  it('forbids the browser to guess its type, and names no product and no version', async () => {
    const answers = [
      await ask(`${server.url}/v1/capabilities`, bearer(key())),
      await ask(`${server.url}/mcp`, rpc(callTool('tidb_capabilities'), key())),
      await ask(`${server.url}/mcp`, rpc('{', key())),
      await ask(`${server.url}/v1/nowhere`),
      await ask(`${server.url}/health/ready`),
      await ask(`${server.url}/openapi.json`),
      await ask(`${server.url}/metrics`, bearer(ADMIN)),
      await ask(`${server.url}/v1/clusters`, { headers: { origin: 'https://evil.example' } }),
      await ask(`${server.url}/mcp`, {
        method: 'OPTIONS',
        headers: { origin: PAGE, 'access-control-request-method': 'POST' },
      }),
      ...(await Promise.all(Array.from({ length: 6 }, () => ask(`${server.url}/v1/clusters`)))),
    ];
    expect(answers.map(({ status }) => status)).toContain(429);
    for (const { status, headers } of answers) {
      expect([status, headers.get('x-content-type-options')]).toEqual([status, 'nosniff']);
      expect(headers.get('server') ?? headers.get('x-powered-by')).toBeNull();
    }
  });
});

describe('A page of an allowed origin', () => {
  const init = { headers: { origin: PAGE } };

  it('reads every answer to a call, each header said once', async () => {
    const own = { authorization: `Bearer ${key()}`, origin: PAGE };
    const call = JSON.stringify(callTool('tidb_capabilities'));
    const mcp = { ...own, 'content-type': 'application/json', accept: 'application/json' };
    const calls = [
      requestText('GET /v1/capabilities', own),
      requestText('GET /v1/clusters?pageSize=0', own),
      requestText('POST /mcp', { ...mcp, 'content-length': String(call.length) }, call),
    ];
    // The bucket holds twenty.
    const answers = [];
    for (let turn = 0; turn < 8; turn += 1)
      for (const text of calls) answers.push(await sendRaw(server.port, [text], { quietMs: 20 }));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 400, 429]));
    for (const { status, head } of answers) {
      const names = [...head.matchAll(/^([\w-]+):/gm)].map(([, name = '']) => name.toLowerCase());
      expect([status, names.filter((name, at) => names.indexOf(name) !== at)]).toEqual([status, []]);
      const expected = ['access-control-allow-origin', 'access-control-expose-headers', 'vary', 'ratelimit-policy'];
      expected.push('x-content-type-options', 'cache-control', 'content-type', 'content-length', 'ratelimit');
      expect(names).toEqual(expect.arrayContaining(expected));
    }
  });

  it('reads every refusal, with its wait', async () => {
    const answers = await Promise.all(Array.from({ length: 7 }, () => ask(`${server.url}/v1/clusters`, init)));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([401, 429]));
    for (const { headers } of answers) {
      expect(headers.get('access-control-allow-origin')).toBe(PAGE);
      expect(headers.get('access-control-expose-headers')).toContain('Retry-After');
      expect(headers.get('access-control-expose-headers')).toContain('RateLimit');
      expect(headers.get('vary')).toBe('Origin');
    }
  });

  it('is told what may be asked, and asks for it free of charge', async () => {
    for (let i = 0; i < 20; i += 1) {
      const headers = { ...init.headers, 'access-control-request-method': 'POST' };
      const answer = await ask(`${server.url}/mcp`, {
        method: 'OPTIONS',
        headers: { ...headers, 'access-control-request-headers': 'authorization, mcp-protocol-version' },
      });
      expect([answer.status, answer.headers.get('access-control-allow-headers')]).toEqual([
        204,
        'authorization, mcp-protocol-version',
      ]);
    }
  });

  it.each([
    'https://app.example.evil.example',
    'http://app.example',
    'https://app.example:444',
    'null',
    'https://app.example, https://app.example',
    'https://APP.example@evil.example',
  ])('is not %s', async (origin) => {
    const text = requestText('OPTIONS /mcp', { origin, 'access-control-request-method': 'POST' });
    const answer = await sendRaw(server.port, [text]);
    expect([answer.status, answer.head.includes('access-control-')]).toEqual([403, false]);
  });

  it.each(['x, y z', 'a;b', '"', 'é', ',', 'x'.repeat(9000) + '"'])(
    'gets no header of its own making: %j',
    async (asked) => {
      const text = requestText('OPTIONS /mcp', {
        origin: PAGE,
        'access-control-request-method': 'POST',
        'access-control-request-headers': asked,
      });
      expect((await sendRaw(server.port, [text])).head.toLowerCase()).not.toContain('allow-headers');
    },
  );
});

describe('A request for a host that is not listed', () => {
  it.each(['/v1/capabilities', '/mcp'])(
    'is refused with the setting that lists it, and with no name: %s',
    async (path) => {
      const text = requestText(`GET ${path}`, { host: 'mcp.example.com' });
      const answer = await sendRaw(server.port, [text]);
      expect([answer.status, answer.body]).toEqual([403, expect.stringContaining('TIDB_MCP_ALLOWED_HOSTS')]);
      expect(answer.body).not.toMatch(/localhost|127\.0\.0\.1|example\.com/);
    },
  );

  it('is refused too where the whole URL names it, whatever Host says', async () => {
    const text = requestText('GET http://mcp.example.com/v1/capabilities', { host: '127.0.0.1' });
    expect((await sendRaw(server.port, [text])).status).toBe(403);
    const listed = requestText('GET http://127.0.0.1/v1/capabilities', { host: 'mcp.example.com' });
    expect((await sendRaw(server.port, [listed])).status).toBe(401);
  });
});

describe('A request that names two hosts', () => {
  it.each(['/v1/capabilities', '/mcp', '/nowhere'])('is paid for and refused: %s', async (path) => {
    const text = `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nHOST: evil.example\r\n\r\n`;
    for (let i = 0; i < 5; i += 1) {
      const answer = await sendRaw(server.port, [text]);
      expect([answer.status, answer.body]).toEqual([400, expect.stringContaining('more than one Host')]);
    }
    expect((await sendRaw(server.port, [text])).status).toBe(429);
  });
});

describe('The admin token', () => {
  it('is not guessed faster than pre-auth allows, however the guess is spelled', async () => {
    const guesses = [
      `Bearer ${ADMIN}x`,
      `Bearer ${ADMIN.slice(1)}`,
      `Basic ${Buffer.from(ADMIN).toString('base64')}`,
      `Bearer ${ADMIN.toUpperCase()}`,
      ADMIN,
      `Bearer ${ADMIN} ${ADMIN}`,
    ];
    const statuses: number[] = [];
    for (const authorization of guesses) {
      statuses.push((await ask(`${server.url}/metrics`, { headers: { authorization } })).status);
    }
    expect(statuses).toEqual([401, 401, 401, 401, 401, 429]);
    expect((await ask(`${server.url}/metrics`, bearer(ADMIN))).status).toBe(200);
  });

  it('is not taken out of two headers', async () => {
    const text = requestText('GET /metrics', { authorization: `Bearer ${ADMIN}` });
    const twice = text.replace('\r\nauthorization:', '\r\nAuthorization: Bearer x\r\nauthorization:');
    expect((await sendRaw(server.port, [twice])).status).toBe(401);
  });

  it('proves nothing on a surface and goes nowhere from there', async () => {
    const before = server.sandbox.requests.length;
    expect((await ask(`${server.url}/v1/clusters`, bearer(ADMIN))).status).toBe(401);
    expect(server.sandbox.requests).toHaveLength(before);
  });
});

describe('A connection', () => {
  it('has the times and the ceiling that are documented', () => {
    const http: Server = server.running.app.getHttpServer();
    const rows = new Map(
      tableRows(section(readDocument('docs/operating.md'), '## Time-outs and ceilings')).map(
        ([what = '', value = '']) => [what, value],
      ),
    );
    const stated = (what: string): number => Number((rows.get(what) ?? '').replaceAll(',', '').match(/\d+/)?.[0]);
    expect(http.headersTimeout).toBe(stated("a request's header") * 1000);
    expect(http.requestTimeout).toBe(stated('a whole request') * 1000);
    expect(http.keepAliveTimeout).toBe(stated('an idle keep-alive connection') * 1000);
    expect(CONNECTION_BOUNDS.stalledReaderMs).toBe(stated('an answer that its client does not take') * 1000);
    expect(http.maxConnections).toBe(stated('open connections'));
  });
});

describe('An instance that shuts down', () => {
  it('tells pages of allowed origins too', async () => {
    const closing = await startTestServer({ TIDB_MCP_ALLOWED_ORIGINS: PAGE });
    closing.running.app.get(FrontDoorService).close();
    const answer = await ask(`${closing.url}/v1/clusters`, { headers: { origin: PAGE } });
    expect([answer.status, answer.json().code]).toEqual([503, 'SHUTTING_DOWN']);
    expect(answer.headers.get('access-control-allow-origin')).toBe(PAGE);
    const foreign = await ask(`${closing.url}/v1/clusters`, { headers: { origin: 'https://evil.example' } });
    expect(foreign.headers.get('access-control-allow-origin')).toBeNull();
    await closing.stop();
  });
});
