import { Load, requestText } from '../load-client.js';
import { median, quantile } from '../numbers.js';
import type { PaceOrder, PaceResult } from '../pace.js';
import { Child, type Server } from '../processes.js';
import { prove, startProduct, tenant } from '../product.js';
import type { Row, Section } from '../report.js';
import { UNLIMITED } from '../unlimited.js';

const TENANTS = 20;
const CALLS_PER_SECOND = 4;
const HEADER = 'x-bench-address';
const PATH = 'GET /v1/capabilities';

/** Target 5: tenants beside a scanner, and the server's memory under a flood of addresses. */
export async function flood(quick: boolean): Promise<Section> {
  const beside = await tenantsBesideScanner(quick ? 5 : 60);
  const memory = await memoryUnderAddresses(quick ? 100_000 : 1_000_000);
  return { name: 'flood', title: '5. A flood beside tenants', rows: [...beside, ...memory] };
}

async function tenantsBesideScanner(seconds: number): Promise<Row[]> {
  const product = await startProduct({ TIDB_MCP_CLIENT_IP_HEADER: HEADER });
  const numbers = Array.from({ length: TENANTS }, (_, n) => n);
  const headers = (n: number) => ({ [HEADER]: `192.0.2.${n + 1}` });
  for (const n of numbers) await prove(product, tenant(n), headers(n));
  const requests = numbers.map((n) => requestText(PATH, { authorization: tenant(n), ...headers(n) }));
  const pace = Child.start({ file: 'pace.js', core: 'load' });
  const order: PaceOrder = { port: product.port, requests, callsPerSecond: CALLS_PER_SECOND, seconds };
  const alone = await pace.ask<PaceResult>(order);
  const scanner = new Load(true);
  const scan = requestText(PATH, { authorization: 'Bearer fake{n}:secret{n}', [HEADER]: '198.51.100.1' });
  const flooding = scanner.run({
    port: product.port,
    request: scan,
    connections: 64,
    count: Number.MAX_SAFE_INTEGER,
    forMs: (seconds + 2) * 1000,
  });
  await new Promise((resolve) => setTimeout(resolve, 1000));
  const crowded = await pace.ask<PaceResult>(order);
  const { answers, seconds: took } = await flooding;
  await Promise.all([pace.stop('SIGKILL'), scanner.stop()]);
  const p99 = quantile(alone.milliseconds, 0.99);
  return [
    latencies('twenty tenants alone', alone, p99),
    {
      ...latencies('twenty tenants beside a scanner on 64 connections', crowded, p99),
      target: { column: '× p99 alone', most: 3 },
    },
    { what: 'refusals of the scanner a second', values: { count: answers / took } },
  ];
}

function latencies(what: string, { milliseconds, refused }: PaceResult, p99Alone: number): Row {
  const p99 = quantile(milliseconds, 0.99);
  return {
    what,
    values: { 'p50 ms': median(milliseconds), 'p99 ms': p99, '× p99 alone': p99 / p99Alone, refused },
  };
}

/** Buckets that never refill, so that each address leaves one until the ceiling is reached. */
async function memoryUnderAddresses(addresses: number): Promise<Row[]> {
  const product = await startProduct({
    ...UNLIMITED,
    TIDB_MCP_CLIENT_IP_HEADER: HEADER,
    TIDB_MCP_PREAUTH_RPS: '0.001',
  });
  const load = new Load();
  const rows: Row[] = [];
  const request = requestText('GET /v1/clusters', { [HEADER]: '{ip}' });
  const steps = [0, 0.2, 0.4, 0.6, 0.8, 1].map((share) => share * addresses);
  for (const [step, until] of steps.entries()) {
    const from = steps[step - 1] ?? 0;
    if (until > 0) await load.run({ port: product.port, request, connections: 64, count: until - from, from });
    rows.push(await memoryOf(product, `memory after ${until.toLocaleString('en-US')} distinct addresses`));
  }
  await load.stop();
  return rows;
}

async function memoryOf({ child }: Server, what: string): Promise<Row> {
  const { rss, heapUsed, arrayBuffers } = await child.usage('memory');
  return { what, values: { 'RSS MB': rss / 1e6, 'heap and buffers MB': (heapUsed + arrayBuffers) / 1e6 } };
}
