import { Logger } from '@nestjs/common';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { ask, bearer, startTestServer, type TestServer } from '../support/test-server.js';
import { answer, type Script, ScriptedUpstream } from './scripted-upstream.js';

let userinfo: ScriptedUpstream;
/** Where a redirect would like the token to go. */
let canary: ScriptedUpstream;
let server: TestServer;

beforeAll(async () => {
  userinfo = await ScriptedUpstream.start();
  canary = await ScriptedUpstream.start();
  server = await startTestServer({
    TIDB_MCP_OAUTH_USERINFO_URL: `${userinfo.url}/userinfo?schema=openid`,
    TIDB_MCP_UPSTREAM_TIMEOUT_MS: '400',
    TIDB_MCP_PREAUTH_BURST: '100000',
    TIDB_MCP_CONTEXT_IDLE_SECONDS: '60',
  });
});
afterAll(async () => {
  await server.stop();
  await userinfo.close();
  await canary.close();
});
beforeEach(() => {
  userinfo.received = '';
  vi.spyOn(Logger.prototype, 'warn').mockImplementation(() => undefined);
});
afterEach(() => {
  vi.restoreAllMocks();
  expect(canary.connections).toBe(0);
});

const JSON_TYPE = ['Content-Type: application/json'];
const says =
  (status: string, body = '', headers: readonly string[] = JSON_TYPE): Script =>
  (socket) =>
    socket.write(answer(status, body, headers));
const use = (token: string) => ask(`${server.url}/v1/capabilities`, bearer(token));
const proven = async (): Promise<number> => {
  server.clock.advance(1000);
  return (await ask(`${server.url}/metrics`, { headers: { accept: 'application/json' } })).json().provenCredentials;
};

/** What is no word on whose the token is. */
const ODD: [string, () => Script][] = [
  ['closes the connection', () => (socket) => socket.destroy()],
  ['never answers', () => () => undefined],
  ['is away', () => says('503 Service Unavailable', 'upstream connect error')],
  ['fails', () => says('500 Internal Server Error', '{"sub":"mei"}')],
  ['is busy', () => says('429 Too Many Requests', '{"sub":"mei"}', [...JSON_TYPE, 'Retry-After: 7'])],
  ['wants a scope', () => says('403 Forbidden', '{"error":"insufficient_scope","sub":"mei"}')],
  ['is not there', () => says('404 Not Found', '{"sub":"mei"}')],
  ['redirects', () => says('302 Found', '{"sub":"mei"}', [`Location: ${canary.url}/`])],
  ['redirects with the method', () => says('307 Temporary Redirect', '', [`Location: ${canary.url}/`])],
  ['has created something', () => says('201 Created', '{"sub":"mei"}')],
  ['says nothing', () => says('204 No Content')],
  ['answers with a page', () => says('200 OK', '<!doctype html><title>sub</title>')],
  ['breaks off', () => (socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{"sub":"mei"}')],
  ['sends too much', () => says('200 OK', JSON.stringify({ sub: 'mei', pad: 'x'.repeat(70_000) }))],
  ['sends a list', () => says('200 OK', '[{"sub":"mei"}]')],
  ['sends null', () => says('200 OK', 'null')],
  ['names no subject', () => says('200 OK', '{"email":"mei@example.com","name":"mei"}')],
  ['names an empty subject', () => says('200 OK', '{"sub":""}')],
  ['names a number', () => says('200 OK', '{"sub":7}')],
  ['names something very long', () => says('200 OK', JSON.stringify({ sub: 'm'.repeat(256) }))],
  [
    'sends a signed token',
    () => says('200 OK', 'eyJhbGciOiJub25lIn0.eyJzdWIiOiJtZWkifQ.', ['Content-Type: application/jwt']),
  ],
];

describe('A userinfo endpoint', () => {
  it.each(ODD)('that %s is 503, and the token stays as unproven as it was', async (_, script) => {
    userinfo.script = script();
    const before = await proven();
    const refused = await use(server.sandbox.issueToken('mei'));
    expect([refused.status, refused.json().code]).toEqual([503, 'UPSTREAM_UNAVAILABLE']);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
    expect(refused.text).not.toContain('mei');
    expect(await proven()).toBe(before);
  });

  it.each(ODD)('that %s takes no proof away', async (_, script) => {
    userinfo.script = says('200 OK', '{"sub":"mei"}');
    const token = server.sandbox.issueToken('mei');
    expect((await use(token)).status).toBe(200);
    const before = await proven();
    server.clock.advance(60_000);
    userinfo.script = script();
    expect((await use(token)).status).toBe(503);
    expect(await proven()).toBe(before);
    userinfo.script = says('200 OK', '{"sub":"mei"}');
    expect((await use(token)).status).toBe(200);
  });

  it('that no longer takes a token has rejected it, and that token alone', async () => {
    userinfo.script = says('200 OK', '{"sub":"mei"}');
    const [gone, good] = [server.sandbox.issueToken('mei'), server.sandbox.issueToken('mei')];
    for (const token of [gone, good]) expect((await use(token)).status).toBe(200);
    const before = await proven();
    server.clock.advance(60_000);
    const [no, yes] = [says('401 Unauthorized', '{}'), says('200 OK', '{"sub":"mei"}')];
    userinfo.script = (socket, head) => (head.includes(gone) ? no : yes)(socket, head);
    expect([(await use(gone)).status, (await use(good)).status]).toEqual([401, 200]);
    expect(await proven()).toBe(before - 1);
  });

  it('is asked with the token alone, after TiDB Cloud has accepted it, and of API keys never', async () => {
    userinfo.script = says('200 OK', '{"sub":"mei"}');
    const { publicKey, privateKey } = server.sandbox;
    expect((await use(`${publicKey}:${privateKey}`)).status).toBe(200);
    expect((await use('a-token-that-tidb-cloud-has-never-seen')).status).toBe(401);
    expect(userinfo.received).toBe('');
    const token = server.sandbox.issueToken('mei');
    expect((await use(token)).status).toBe(200);
    expect(userinfo.received).toMatch(/^GET \/userinfo\?schema=openid HTTP\/1\.1\r\n/);
    expect(userinfo.received.match(/^authorization: .*$/gim)).toEqual([`authorization: Bearer ${token}`]);
  });
});
