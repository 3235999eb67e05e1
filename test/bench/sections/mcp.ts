import { fileURLToPath } from 'node:url';
import { type Contender, cpuPerRequest, type Effort, requestText } from '../load-client.js';
import { median, medianRatio } from '../numbers.js';
import { startServer } from '../processes.js';
import { prove, startProduct, tenant } from '../product.js';
import type { Section } from '../report.js';
import { UNLIMITED } from '../unlimited.js';

const V1 = 'SDK 1.32, stateless, 1 tool';
const OLDER = { accept: 'application/json, text/event-stream', 'mcp-protocol-version': '2025-06-18' };
const META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'bench', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
};
const TOOL = 'tidb_capabilities';

function post(method: string, params: object, headers: Record<string, string>): string {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
  return requestText('POST /mcp', { authorization: tenant(0), 'content-type': 'application/json', ...headers }, body);
}

function modern(method: string, params: object, name: Record<string, string> = {}): string {
  const headers = { accept: OLDER.accept, 'mcp-protocol-version': '2026-07-28', 'mcp-method': method, ...name };
  return post(method, { ...params, _meta: META }, headers);
}

const CALL = { name: TOOL, arguments: {} };
const REQUESTS = {
  older: post('tools/call', CALL, OLDER),
  modern: modern('tools/call', CALL, { 'mcp-name': TOOL }),
  olderList: post('tools/list', {}, OLDER),
  modernList: modern('tools/list', {}),
} as const;

/** Target 4: what `tools/call` costs, against SDK 1.32 with the same tool, and whether the number of tools matters. */
export async function mcp(effort: Effort): Promise<Section> {
  const { rounds, warmUp, count } = effort;
  const fewer = { ...effort, rounds: Math.min(rounds, 5), warmUp: warmUp / 5, count: count / 5 };
  const cpu = await cpuPerRequest(fewer, contenders);
  const rows = [...cpu].map(([what, own]) => {
    const values = { 'CPU µs': median(own), '× SDK 1.32': medianRatio(own, cpu.get(V1) ?? []) };
    const isTarget = what.startsWith('product: tools/call');
    return { what, values, target: isTarget ? { column: '× SDK 1.32', most: 0.6 } : undefined };
  });
  return { name: 'mcp', title: '4. MCP', rows };
}

async function contenders(): Promise<Contender[]> {
  const product = await startProduct(UNLIMITED);
  const { text: BODY } = await prove(product, tenant(0));
  const manyTools = fileURLToPath(new URL('../many-tools.js', import.meta.url));
  const crowded = await startProduct(UNLIMITED, { nodeOptions: ['--import', manyTools] });
  await prove(crowded, tenant(0));
  const base = (file: string, TOOLS = '1') => startServer({ file: `servers/${file}.js`, env: { BODY, TOOLS } });
  const [v1, v1Many] = [await base('mcp-sdk-v1'), await base('mcp-sdk-v1', '10')];
  return [
    { name: V1, server: v1, request: REQUESTS.older },
    { name: 'product: tools/call, 2025-06-18', server: product, request: REQUESTS.older },
    { name: 'product: tools/call, 2026-07-28', server: product, request: REQUESTS.modern },
    { name: 'product: tools/call, 2025-06-18, 50 more tools', server: crowded, request: REQUESTS.older },
    { name: 'product: tools/call, 2026-07-28, 50 more tools', server: crowded, request: REQUESTS.modern },
    { name: 'SDK 1.32, stateless, 10 tools', server: v1Many, request: REQUESTS.older },
    { name: 'JSON-RPC by hand on Nest + Fastify', server: await base('mcp-by-hand'), request: REQUESTS.older },
    { name: 'product: tools/list, 2025-06-18', server: product, request: REQUESTS.olderList },
    { name: 'product: tools/list, 2026-07-28', server: product, request: REQUESTS.modernList },
    { name: 'SDK 1.32, tools/list of 10', server: v1Many, request: REQUESTS.olderList },
  ].map((contender) => ({ ...contender, status: 200 }));
}
