import { type Contender, cpuPerRequest, type Effort, requestText } from '../load-client.js';
import { median, medianRatio } from '../numbers.js';
import { type Server, startServer } from '../processes.js';
import { prove, startProduct, tenant } from '../product.js';
import type { Row, Section } from '../report.js';

const PATH = 'GET /v1/capabilities';
const MCP_BODY = '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"tidb_capabilities","arguments":{}}}';
const REQUESTS = {
  nobody: requestText(PATH),
  rotating: requestText(PATH, { authorization: 'Bearer fake{n}:secret{n}' }),
  tenant: requestText(PATH, { authorization: tenant(0) }),
  post: requestText('POST /mcp', { 'content-type': 'application/json' }, MCP_BODY),
} as const;

/** Target 1: what a refusal costs, against a bare Fastify `onRequest` hook that answers the same bytes. */
export async function refusal(effort: Effort): Promise<Section> {
  const cpu = await cpuPerRequest(effort, contenders);
  return { name: 'refusal', title: '1. A refusal (429)', rows: [...cpu.keys()].map((name) => row(name, cpu)) };
}

async function contenders(): Promise<Contender[]> {
  const product = await startProduct();
  await prove(product, tenant(0));
  const sample = await refusedBody(product);
  const env = { MODE: 'refuse', BODY: sample, CONTENT_TYPE: 'application/problem+json' };
  const base = (file: string, guard = 'none') =>
    startServer({ file: `servers/${file}.js`, env: { ...env, GUARD: guard } });
  const fastify = await base('fastify');
  const contender = (name: string, server: Server, request: string): Contender => ({
    name,
    server,
    request,
    status: 429,
  });
  return [
    contender('bare Fastify onRequest', fastify, REQUESTS.nobody),
    contender('product: scanner without a credential', product, REQUESTS.nobody),
    contender('bare Fastify onRequest, rotating keys', fastify, REQUESTS.rotating),
    contender('product: scanner that rotates fake keys', product, REQUESTS.rotating),
    contender('product: proven tenant over its limit', product, REQUESTS.tenant),
    contender('bare Fastify onRequest, POST /mcp', fastify, REQUESTS.post),
    contender('product: POST /mcp without a credential', product, REQUESTS.post),
    contender('bare node:http', await base('node-http'), REQUESTS.nobody),
    contender('@fastify/rate-limit', await base('fastify-rate-limit'), REQUESTS.nobody),
    contender('Nest + rate-limiter-flexible, four checks', await base('nest', 'flexible'), REQUESTS.nobody),
    contender('Nest + stock throttler, four throttlers', await base('nest', 'throttler'), REQUESTS.nobody),
  ];
}

/** Each line against the baseline that got the same requests; fake keys cost the bare hook their parsing too. */
const AGAINST: Record<string, { baseline: string; most?: number }> = {
  'product: scanner without a credential': { baseline: 'bare Fastify onRequest', most: 1.25 },
  'product: scanner that rotates fake keys': { baseline: 'bare Fastify onRequest, rotating keys', most: 1.25 },
  'product: proven tenant over its limit': { baseline: 'bare Fastify onRequest', most: 1.5 },
  'product: POST /mcp without a credential': { baseline: 'bare Fastify onRequest, POST /mcp' },
};

function row(name: string, cpu: Map<string, number[]>): Row {
  const { baseline = 'bare Fastify onRequest', most } = AGAINST[name] ?? {};
  const own = cpu.get(name) ?? [];
  const ratio = medianRatio(own, cpu.get(baseline) ?? []);
  const target = most === undefined ? undefined : { column: '× Fastify onRequest', most };
  return { what: name, values: { 'CPU µs': median(own), '× Fastify onRequest': ratio }, target };
}

async function refusedBody({ port }: Server): Promise<string> {
  for (;;) {
    const response = await fetch(`http://127.0.0.1:${port}/v1/capabilities`);
    const text = await response.text();
    if (response.status === 429) return text;
  }
}
