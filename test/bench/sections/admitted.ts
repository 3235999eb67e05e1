import { type Contender, cpuPerRequest, type Effort, requestText } from '../load-client.js';
import { median, medianRatio } from '../numbers.js';
import { startServer } from '../processes.js';
import { prove, startProduct, tenant } from '../product.js';
import type { Section } from '../report.js';
import { UNLIMITED } from '../unlimited.js';

const BARE = 'bare Nest + Fastify, same bytes';

/** Target 2: what an admitted call costs, against a bare Nest route that answers the same bytes. */
export async function admitted(effort: Effort): Promise<Section> {
  const cpu = await cpuPerRequest(effort, contenders);
  const rows = [...cpu].map(([what, own]) => ({
    what,
    values: { 'CPU µs': median(own), '× bare Nest': medianRatio(own, cpu.get(BARE) ?? []) },
    target: what.startsWith('product') ? { column: '× bare Nest', most: 1.25 } : undefined,
  }));
  return { name: 'admitted', title: '2. An admitted call (200)', rows };
}

async function contenders(): Promise<Contender[]> {
  const product = await startProduct(UNLIMITED);
  const { text: BODY, headers } = await prove(product, tenant(0));
  const env = { BODY, HEADERS: JSON.stringify(headers) };
  const base = (file: string, GUARD = 'none') => startServer({ file: `servers/${file}.js`, env: { ...env, GUARD } });
  const request = (path = '/v1/capabilities') => requestText(`GET ${path}`, { authorization: tenant(0) });
  const nest = await base('nest');
  return [
    { name: BARE, server: nest, request: request() },
    { name: 'product: GET /v1/capabilities', server: product, request: request() },
    { name: 'bare Nest + Fastify, same body, one header', server: nest, request: request('/v1/body') },
    { name: 'bare Nest + Fastify, prebuilt text', server: nest, request: request('/v1/prebuilt') },
    { name: 'bare node:http, prebuilt text', server: await base('node-http'), request: request() },
    { name: 'bare Fastify, same object', server: await base('fastify'), request: request() },
    { name: '@fastify/rate-limit', server: await base('fastify-rate-limit'), request: request() },
    { name: 'Nest + rate-limiter-flexible, four checks', server: await base('nest', 'flexible'), request: request() },
    { name: 'Nest + stock throttler, four throttlers', server: await base('nest', 'throttler'), request: request() },
  ].map((contender) => ({ ...contender, status: 200 }));
}
