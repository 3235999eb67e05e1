import type { Random } from './random.js';

const METHODS = [
  'initialize',
  'ping',
  'tools/list',
  'tools/call',
  'tools/call',
  'server/discover',
  'subscriptions/listen',
  'resources/list',
  'prompts/get',
  'logging/setLevel',
  'completion/complete',
  'sampling/createMessage',
  'tasks/get',
  'notifications/initialized',
  'notifications/cancelled',
  'notifications/progress',
  'rpc.discover',
  '__proto__',
  'toString',
  '',
  'x'.repeat(5000),
];
const TOOLS = [
  'tidb_capabilities',
  'tidb_list_clusters',
  'tidb_get_cluster',
  'tidb_list_branches',
  'tidb_get_branch',
  'tidb_list_backups',
  'tidb_list_regions',
  'tidb_list_projects',
  'tidb_preflight',
  'tidb_confirm',
  'constructor',
  '__proto__',
  '',
];
const ARGUMENTS = [
  'pageSize',
  'pageToken',
  'clusterId',
  'branchId',
  'filter',
  'operation',
  'arguments',
  'confirmationToken',
  '__proto__',
];
const VERSIONS = [
  '2024-11-05',
  '2025-03-26',
  '2025-06-18',
  '2025-11-25',
  '2026-07-28',
  '1900-01-01',
  '9999-99-99',
  '',
  '__proto__',
  'x'.repeat(3000),
];

/** A value of JSON text in which anything may stand, among it what JSON.parse takes and few expect. */
export function jsonValue(random: Random, depth = 0): string {
  const kind = random.below(depth > 3 ? 8 : 11);
  if (kind === 0) return random.pick(['null', 'true', 'false']);
  if (kind === 1)
    return random.pick([
      '0',
      '-0',
      '1e999',
      '-1e999',
      '1e-400',
      '9007199254740993',
      '1.5',
      '123456789012345678901234567890',
    ]);
  if (kind === 2) return JSON.stringify(random.text(random.below(40), 0, 0x2fff));
  if (kind === 3)
    return random.pick([
      '"\\ud800"',
      '"\\u0000"',
      '"../../etc"',
      '"%2e%2e"',
      '"a@b.example"',
      '""',
      '"${x}"',
      '"<script>"',
    ]);
  if (kind === 4) return JSON.stringify(random.pick(['x', '-', '1', '_']).repeat(random.below(3000)));
  if (kind === 5) return '['.repeat(random.below(3000));
  if (kind === 6) return nested(random);
  if (kind === 7) return String(random.below(200) - 50);
  if (kind === 8) return `[${list(random, depth).join(',')}]`;
  return `{${list(random, depth)
    .map(
      (value) =>
        `${JSON.stringify(random.pick([...ARGUMENTS, 'constructor', 'prototype', 'toJSON', 'then', random.text(5)]))}:${value}`,
    )
    .join(',')}}`;
}

function nested(random: Random): string {
  const depth = random.pick([10, 500, 20_000]);
  return random.chance(0.5) ? '['.repeat(depth) + ']'.repeat(depth) : '{"a":'.repeat(depth) + '1' + '}'.repeat(depth);
}

function list(random: Random, depth: number): string[] {
  return Array.from({ length: random.below(5) }, () => jsonValue(random, depth + 1));
}

/** The body of a `POST /mcp`: mostly a JSON-RPC message, with some of it odd. */
export function rpcBody(random: Random): string {
  if (random.chance(0.08)) return jsonValue(random);
  if (random.chance(0.03)) return `[${rpcBody(random)}]`;
  const members: string[] = [];
  const add = (name: string, usual: string, missing = 0.05): void => {
    if (random.chance(missing)) return;
    members.push(`${JSON.stringify(name)}:${random.chance(0.12) ? jsonValue(random) : usual}`);
  };
  add('jsonrpc', '"2.0"');
  add('id', random.pick(['1', '"a"', '0', '-1', '"x"']), 0.15);
  add('method', JSON.stringify(random.pick(METHODS)));
  add('params', params(random), 0.1);
  if (random.chance(0.1)) members.push(`"result":${jsonValue(random)}`);
  if (random.chance(0.1)) members.push(`"__proto__":${jsonValue(random)}`);
  if (random.chance(0.05)) members.push('"id":2');
  const text = `{${members.join(',')}}`;
  return random.chance(0.04) ? text.slice(0, random.below(text.length)) : text;
}

function params(random: Random): string {
  const names = Array.from(
    { length: random.below(4) },
    () => `${JSON.stringify(random.pick(ARGUMENTS))}:${jsonValue(random)}`,
  );
  const meta = random.chance(0.5)
    ? `"_meta":{"io.modelcontextprotocol/protocolVersion":${JSON.stringify(random.pick(VERSIONS))},"io.modelcontextprotocol/clientInfo":{"name":"x","version":"1"},"io.modelcontextprotocol/clientCapabilities":${random.chance(0.8) ? '{}' : jsonValue(random)},"progressToken":${jsonValue(random)}},`
    : '';
  return `{${meta}"name":${JSON.stringify(random.pick(TOOLS))},"arguments":{${names.join(',')}},"protocolVersion":${JSON.stringify(random.pick(VERSIONS))},"capabilities":{},"clientInfo":{"name":"x","version":"1"}}`;
}

/** The headers of a `POST /mcp` of either era, or of both at once. */
export function rpcHeaders(random: Random): Record<string, string> {
  const headers: Record<string, string> = { 'content-type': 'application/json' };
  headers['accept'] = random.pick([
    'application/json, text/event-stream',
    'application/json, text/event-stream',
    'text/event-stream, application/json;q=0.1',
    '*/*',
    'application/json',
    'text/event-stream',
    'text/html',
    'application/json;q=0, text/event-stream;q=0',
    ',,,',
  ]);
  if (random.chance(0.5)) headers['mcp-protocol-version'] = random.pick(VERSIONS);
  if (random.chance(0.4)) headers['mcp-method'] = random.pick(METHODS.slice(0, -1)) || 'x';
  if (random.chance(0.3)) headers['mcp-name'] = random.pick(TOOLS) || 'x';
  if (random.chance(0.2)) headers['mcp-session-id'] = random.text(20, 0x21);
  if (random.chance(0.1)) headers['last-event-id'] = random.text(5, 0x30, 0x39);
  return headers;
}

/** A whole `POST /mcp`: headers and body that disagree in any way, or agree in the newer era with one thing odd. */
export function rpcCall(random: Random): { headers: Record<string, string>; body: string } {
  if (random.chance(0.6)) return { headers: rpcHeaders(random), body: rpcBody(random) };
  const version = '2026-07-28';
  const method = random.pick(METHODS.slice(0, 13));
  const name = random.pick(TOOLS);
  const odd = (usual: string): string => (random.chance(0.08) ? jsonValue(random) : usual);
  const meta =
    `{"io.modelcontextprotocol/protocolVersion":${odd(`"${version}"`)},` +
    `"io.modelcontextprotocol/clientInfo":${odd('{"name":"x","version":"1"}')},` +
    `"io.modelcontextprotocol/clientCapabilities":${odd('{}')},"progressToken":${odd('1')}}`;
  const given = random.chance(0.5) ? `{"pageSize":${odd('5')},"clusterId":${odd('"1"')}}` : odd('{}');
  const body =
    `{"jsonrpc":"2.0","id":${odd('1')},"method":"${method}",` +
    `"params":{"_meta":${odd(meta)},"name":${JSON.stringify(name)},"arguments":${given}}}`;
  const headers: Record<string, string> = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    'mcp-protocol-version': version,
    'mcp-method': method,
  };
  if (method === 'tools/call' && name !== '') headers['mcp-name'] = name;
  return { headers, body };
}
