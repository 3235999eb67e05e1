import type { Random } from './random.js';

/** One attack over one connection: what is sent, in which pieces, and what may be said of it beforehand. */
export interface RawAttack {
  readonly chunks: readonly string[];
  /** Whether the client closes before the answer, right after what it sent. */
  readonly leaves: boolean;
  /** The request-targets of its requests, as sent. */
  readonly targets: readonly string[];
}

const METHODS = [
  'GET',
  'GET',
  'GET',
  'POST',
  'POST',
  'PUT',
  'DELETE',
  'HEAD',
  'OPTIONS',
  'PATCH',
  'TRACE',
  'M-SEARCH',
  'PURGE',
];
const BAD_METHODS = ['get', 'G\tT', '', 'CONNECT', 'POST\u0000', 'X'.repeat(300)];

const TARGETS = [
  '/',
  '/mcp',
  '/mcp',
  '/mcp/',
  '/MCP',
  '/mcp#x',
  '/mcp?x=1',
  '/%6dcp',
  '//mcp',
  '/./mcp',
  '/v1/../mcp',
  '/v1',
  '/v1/',
  '/v1/clusters',
  '/v1/clusters/',
  '/v1/clusters/%zz',
  '/v1/clusters/%2e%2e',
  '/v1/clusters/a%2fb/branches',
  '/v1/clusters/%c0%af',
  '/v1/clusters/\u00ff',
  '/v1/clusters/1;x=2',
  '/v1/clusters/1:reset',
  '/v1/clusters?pageSize=%00&pageSize=2',
  '/v1/clusters?__proto__[x]=1&constructor=2',
  '/%76%31/clusters',
  '/v1%2fclusters',
  'http://evil.example/v1/clusters',
  'http://evil.example',
  'HTTP://[::1/mcp',
  'evil.example:443',
  '*',
  '',
  '?',
  '/\\..\\..\\mcp',
  '/health/live',
  '/health/ready?x',
  '/health/%6cive',
  '/health/',
  '/metrics',
  '/metrics/',
  '/metrics?x',
  '/docs',
  '/docs/',
  '/docs/../../package.json',
  '/docs/%2e%2e%2f%2e%2e%2fpackage.json',
  '/docs/%00',
  '/docs/favicon-16x16.png',
  '/openapi.json',
  '/console',
  '/.well-known/oauth-protected-resource/mcp',
  '/.well-known/../mcp',
  `/${'a'.repeat(9000)}`,
  `/v1/clusters/${'9'.repeat(5000)}`,
  `/${'%41'.repeat(1000)}`,
];

const HOSTS = [
  '127.0.0.1',
  '127.0.0.1',
  '127.0.0.1',
  'localhost:1',
  'evil.example',
  '',
  '127.0.0.1@evil.example',
  '[::1]',
];

const ODD_HEADERS: readonly (readonly [string, string])[] = [
  ['Authorization', 'Bearer a:b'],
  ['authorization', 'Basic !!!'],
  ['AUTHORIZATION', `Bearer ${'x'.repeat(9000)}`],
  ['Authorization', 'Digest username="a"'],
  ['Authorization', 'Bearer'],
  ['Authorization', 'Bearer eyJhbGciOiJub25lIn0.e30.'],
  ['Proxy-Authorization', 'Basic YTpi'],
  ['X-Forwarded-For', '1.2.3.4, '.repeat(500)],
  ['X-Forwarded-For', ` ${' '.repeat(8000)}x`],
  ['Forwarded', 'for="[::1]:80"'],
  ['X-Forwarded-Host', 'evil.example'],
  ['X-HTTP-Method-Override', 'DELETE'],
  ['X-Original-URL', '/health/live'],
  ['Origin', 'null'],
  ['Origin', 'http://127.0.0.1'],
  ['Origin', 'https://evil.example'],
  ['Access-Control-Request-Method', 'POST'],
  ['Access-Control-Request-Headers', 'a, b,,c'],
  ['Content-Type', 'application/json'],
  ['Content-Type', ';;'],
  ['Content-Type', 'application/json; charset=utf-16'],
  ['Content-Type', 'multipart/form-data; boundary='],
  ['Content-Encoding', 'gzip'],
  ['Accept', 'application/json, text/event-stream'],
  ['Accept', '*/*;q=0'],
  ['Accept', '\u00ff'],
  ['Accept', 'a/b,'.repeat(300)],
  ['Expect', '100-continue'],
  ['Expect', '100-Continue, 200-maybe'],
  ['Expect', ''],
  ['Expect', 'foo'],
  ['Connection', 'upgrade'],
  ['Upgrade', 'websocket'],
  ['Upgrade', 'h2c'],
  ['Connection', 'close'],
  ['Connection', 'authorization'],
  ['Keep-Alive', 'timeout=999999'],
  ['TE', 'trailers'],
  ['Trailer', 'authorization'],
  ['MCP-Protocol-Version', '2026-07-28'],
  ['MCP-Protocol-Version', '1999-01-01'],
  ['MCP-Protocol-Version', '__proto__'],
  ['Mcp-Session-Id', '../../x'],
  ['Mcp-Method', 'subscriptions/listen'],
  ['Mcp-Name', 'tidb_capabilities'],
  ['Last-Event-ID', '1'],
  ['Range', 'bytes=0-0,-1'],
  ['If-None-Match', '*'],
  ['If-Modified-Since', 'x'],
  ['Cookie', 'a=b; '.repeat(100)],
  ['__proto__', 'x'],
  ['constructor', 'x'],
  ['Max-Forwards', '0'],
];

/** Lines that no honest client writes; most of them are for Node's parser to refuse. */
const BROKEN_LINES = [
  'no colon here',
  ': empty name',
  'na me: x',
  'name : x',
  ' folded: x',
  'x: a\u0000b',
  'x: a\u0001b',
  'x:\rb',
  'Content-Length: -1',
  'Content-Length: 1e3',
  'Content-Length: 0x10',
  'Content-Length: 99999999999999999999',
  'Content-Length: 5\r\nContent-Length: 6',
  'Transfer-Encoding: chunked\r\nContent-Length: 3',
  'Transfer-Encoding: gzip, chunked',
  'Transfer-Encoding: chunked, identity',
  'Transfer-Encoding:\u000bchunked',
  `x: ${'y'.repeat(17_000)}`,
  'Host: 127.0.0.1\r\nHost: evil.example',
];

const BODIES = [
  '',
  '{}',
  '[]',
  '{',
  'null',
  '"x"',
  '\u0000',
  '\u00ff\u00fe',
  '{"jsonrpc":"2.0","id":1,"method":"ping"}',
  'x'.repeat(3000),
];

/** One attack; `credential` is one that is really accepted, which some of the requests bring. */
export function rawAttack(random: Random, credential: string): RawAttack {
  const count = random.chance(0.2) ? 2 + random.below(6) : 1;
  const targets: string[] = [];
  let text = '';
  for (let i = 0; i < count; i += 1) text += request(random, credential, targets);
  if (random.chance(0.05)) text = text.replaceAll('\r\n', '\n');
  if (random.chance(0.05)) text = text.slice(0, random.below(text.length + 1));
  if (random.chance(0.03)) text = random.text(200, 0, 255) + text;
  return { chunks: split(random, text), leaves: random.chance(0.1), targets };
}

function request(random: Random, credential: string, targets: string[]): string {
  const method = random.chance(0.05) ? random.pick(BAD_METHODS) : random.pick(METHODS);
  const target = random.chance(0.05) ? `/${random.text(20, 0x21, 0xff)}` : random.pick(TARGETS);
  targets.push(target);
  const version = random.chance(0.06)
    ? random.pick(['HTTP/1.0', 'HTTP/0.9', 'HTTP/2.0', 'HTTP/1.1 ', 'ICY', ''])
    : 'HTTP/1.1';
  const lines = random.chance(0.03) ? [] : [`Host: ${random.pick(HOSTS)}`];
  if (random.chance(0.3)) lines.push(`Authorization: Bearer ${credential}`);
  for (let i = random.below(5); i > 0; i -= 1) lines.push(random.pick(ODD_HEADERS).join(': '));
  if (random.chance(0.1)) lines.push(random.pick(BROKEN_LINES));
  if (random.chance(0.02)) for (let i = 0; i < 1000; i += 1) lines.push(`h${i}: v`);
  const body = withBody(random, lines);
  shuffle(random, lines);
  return `${method} ${target} ${version}\r\n${lines.map((line) => `${line}\r\n`).join('')}\r\n${body}`;
}

function withBody(random: Random, lines: string[]): string {
  const body = random.pick(BODIES);
  const kind = random.below(8);
  if (kind < 3) return '';
  if (kind < 6) {
    const length = kind === 5 ? body.length + random.below(5) - 2 : body.length;
    lines.push(`Content-Length: ${length}`);
    return body;
  }
  lines.push('Transfer-Encoding: chunked');
  const size = body.length.toString(16);
  if (kind === 6)
    return body === '' ? '0\r\n\r\n' : `${size};ext="x"\r\n${body}\r\n0\r\nAuthorization: Bearer a:b\r\n\r\n`;
  return random.pick([`${size}\r\n${body}`, 'zz\r\n', `ffffffffffff\r\n${body}`, '-1\r\n\r\n', `0\r\n`]);
}

function shuffle(random: Random, lines: string[]): void {
  for (let i = lines.length - 1; i > 0; i -= 1) {
    const j = random.below(i + 1);
    [lines[i], lines[j]] = [lines[j]!, lines[i]!];
  }
}

function split(random: Random, text: string): string[] {
  if (!random.chance(0.2)) return [text];
  const at = random.below(text.length + 1);
  return [text.slice(0, at), text.slice(at)];
}
