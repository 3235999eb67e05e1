import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Sandbox, startSandbox } from '../../src/sandbox/sandbox.adapter.js';
import { ask, bearer, callTool, rpc, startTestServer, type TestServer } from '../support/test-server.js';
import { waitUntil } from '../support/wait-until.js';
import { Collector } from './collector.js';
import { Program } from './program.js';

const DAY_MS = 86_400_000;

interface Metrics {
  refusals: Record<string, number>;
  telemetryRepresented: { sent: number; dropped: number };
}

const sum = (counts: Record<string, number>): number =>
  Object.values(counts).reduce((total, count) => total + count, 0);
const metricsOf = async (url: string): Promise<Metrics> =>
  (await ask(`${url}/metrics`, { headers: { accept: 'application/json' } })).json();
const copies = async (url: string): Promise<Record<string, number>> => {
  const { text } = await ask(`${url}/metrics`);
  const rows = [...text.matchAll(/^tidb_mcp_telemetry_otlp_total\{result="(\w+)"\} (\d+)$/gm)];
  return Object.fromEntries(rows.map(([, result, count]) => [result, Number(count)]));
};
const represented = (events: Record<string, unknown>[]): number =>
  events.reduce((total, event) => total + Number(event['representsCount'] ?? 0), 0);

const folder = mkdtempSync(join(tmpdir(), 'faults-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await startSandbox({ rateLimitPerMinute: 1_000_000 });
});
afterAll(() => sandbox.close());

const key = (): string => `${sandbox.publicKey}:${sandbox.privateKey}`;
const programs: Program[] = [];
async function serve(env: Record<string, string>, shell?: string): Promise<Program> {
  const program = await Program.start(
    { TIDB_MCP_SERVERLESS_API_URL: sandbox.serverlessUrl, TIDB_MCP_IAM_API_URL: sandbox.iamUrl, ...env },
    shell,
  );
  programs.push(program);
  return program;
}
afterEach(async () => {
  await Promise.all(programs.splice(0).map((program) => program.stop()));
});

/** Has many requests refused, and looks that a tenant is served meanwhile. */
async function flood(url: string, count: number): Promise<void> {
  expect((await ask(`${url}/v1/capabilities`, bearer(key()))).status).toBe(200);
  for (let i = 0; i < count; i += 30) {
    await Promise.all(Array.from({ length: 30 }, () => ask(`${url}/v1/clusters`)));
    const served = await ask(`${url}/v1/capabilities`, bearer(key()));
    expect(served.status).toBe(200);
  }
}

describe('A telemetry sink on a full disk', () => {
  it.skipIf(!existsSync('/dev/full'))(
    'loses events, counted, and no request notices (skipped where there is no /dev/full)',
    async () => {
      const { url } = await serve({ TIDB_MCP_TELEMETRY: 'file:/dev/full', TIDB_MCP_TENANT_BURST: '100' });
      await flood(url, 90);
      await new Promise((resolve) => setTimeout(resolve, 1600));
      const { refusals, telemetryRepresented } = await metricsOf(url);
      expect(sum(refusals)).toBeGreaterThan(50);
      expect(telemetryRepresented).toEqual({ sent: 0, dropped: sum(refusals) });
    },
  );
});

describe('A collector', () => {
  let collector: Collector;
  beforeEach(async () => {
    collector = await Collector.start();
  });
  afterEach(() => collector.close());

  const start = () =>
    serve({
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_EXPORTER_OTLP_TIMEOUT: '500',
      TIDB_MCP_TENANT_BURST: '100',
    });

  it('gets every event that standard output gets, and they add up to the refusals', async () => {
    const program = await start();
    await flood(program.url, 90);
    await new Promise((resolve) => setTimeout(resolve, 1600));
    const { refusals, telemetryRepresented } = await metricsOf(program.url);
    expect(telemetryRepresented).toEqual({ sent: sum(refusals), dropped: 0 });
    expect(await program.stop()).toBe(0);
    expect(represented(collector.events())).toBe(sum(refusals));
    expect(collector.events()).toEqual(program.events());
    expect(collector.events().at(-1)).toMatchObject({ event: 'server_stopped' });
  });

  const BROKEN: [string, (response: ServerResponse) => void][] = [
    ['answers 500', (response) => response.writeHead(500).end()],
    ['answers 503 for ever', (response) => response.writeHead(503, { 'retry-after': '999999' }).end()],
    ['redirects', (response) => response.writeHead(307, { location: 'http://127.0.0.1:1/' }).end()],
    ['never answers', () => undefined],
    ['hangs up', (response) => response.destroy()],
    ['answers without an end', (response) => void response.writeHead(200).write('x'.repeat(100_000))],
    ['answers garbage', (response) => response.writeHead(200).end('<html>')],
  ];

  it.each(BROKEN)('that %s costs its copies, and nothing else', async (_, answer) => {
    collector.answer = answer;
    const file = join(folder, 'telemetry.jsonl');
    const server = await startTestServer({
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      TIDB_MCP_TELEMETRY: `file:${file}`,
    });
    await Promise.all(Array.from({ length: 60 }, () => ask(`${server.url}/v1/clusters`)));
    await waitUntil('the collector to be asked', () => collector.bodies.length > 0);
    const { refusals } = await metricsOf(server.url);
    await server.stop();
    const events = readFileSync(file, 'utf8').trim().split('\n');
    expect(represented(events.map((line) => JSON.parse(line) as Record<string, unknown>))).toBe(sum(refusals));
    expect(sum(refusals)).toBe(55);
    rmSync(file);
  });

  it('that is not there is told once, and what it lost is counted', async () => {
    const program = await serve({
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1',
      OTEL_EXPORTER_OTLP_TIMEOUT: '200',
    });
    await waitUntil('copies to be lost', async () => Number((await copies(program.url))['dropped']) > 0);
    await ask(`${program.url}/v1/capabilities`, bearer(key()));
    expect(await program.stop()).toBe(0);
    expect(program.output.match(/collector loses events/g)).toHaveLength(1);
  });

  it('is told nothing where telemetry is off', async () => {
    const program = await serve({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, TIDB_MCP_TELEMETRY: 'off' });
    await ask(`${program.url}/v1/capabilities`, bearer(key()));
    expect(await program.stop()).toBe(0);
    expect(collector.bodies).toEqual([]);
  });
});

describe('A disk that is full for the embedded database', () => {
  const path = join(folder, 'control.db');
  const env = {
    TIDB_MCP_CONTROL_DB_URL: `sqlite:${path}`,
    TIDB_MCP_QUOTA_FLUSH_SECONDS: '1',
    TIDB_MCP_DAILY_QUOTA: '5',
  };

  /** No file of the process may grow beyond so many blocks of 512 bytes. */
  const limitedTo = (blocks: number) => `trap '' XFSZ; ulimit -f ${blocks};`;

  const degraded = async (url: string): Promise<boolean> =>
    (await ask(`${url}/health/ready`)).json().details.controlDatabase.degraded;

  it('degrades persistence and refuses nobody, and the day is counted in memory', async () => {
    const { url } = await serve(env, limitedTo(0));
    const statuses: number[] = [];
    for (let i = 0; i < 7; i += 1) statuses.push((await ask(`${url}/v1/capabilities`, bearer(key()))).status);
    expect(statuses).toEqual([200, 200, 200, 200, 200, 429, 429]);
    await waitUntil('persistence to be degraded', () => degraded(url));
    expect((await ask(`${url}/health/ready`)).status).toBe(200);
  });

  it('may fill up later, and what was stored before stays', async () => {
    const first = await serve(env);
    await ask(`${first.url}/v1/capabilities`, bearer(key()));
    expect(await first.stop()).toBe(0);
    const blocks = Math.ceil(statSync(path).size / 512);
    const second = await serve(env, limitedTo(blocks));
    const { limits } = (await ask(`${second.url}/v1/capabilities`, bearer(key()))).json();
    expect(limits.quota.used).toBe(2);
    expect(await second.stop()).toBe(0);
    const third = await serve(env);
    const again = (await ask(`${third.url}/v1/capabilities`, bearer(key()))).json();
    expect(again.limits.quota.used).toBeGreaterThanOrEqual(2);
  });
});

describe('An upstream that fails', () => {
  let server: TestServer;
  beforeEach(async () => {
    server = await startTestServer({ TIDB_MCP_UPSTREAM_TIMEOUT_MS: '300' });
  });
  afterEach(() => server.stop());
  const tenant = () => `${server.sandbox.publicKey}:${server.sandbox.privateKey}`;

  it.each([
    ['is down', (to: Sandbox): void => void (to.outage = true), 503],
    ['hangs', (to: Sandbox): void => void (to.hang = true), 503],
    ['resets connections', (to: Sandbox): void => void (to.reset = true), 503],
    ['answers garbage', (to: Sandbox): void => void (to.garbage = true), 502],
    ['forbids', (to: Sandbox): void => to.forbidKey(to.publicKey), 403],
    ['revokes', (to: Sandbox): void => to.rejectKey(to.publicKey), 401],
  ] as const)('%s: each call says so, and only a rejection is held against the key', async (_, fail, status) => {
    expect((await ask(`${server.url}/v1/regions`, bearer(tenant()))).status).toBe(200);
    fail(server.sandbox);
    const told = await ask(`${server.url}/v1/regions`, bearer(tenant()));
    expect([told.status, told.json().status]).toEqual([status, status]);
    await ask(`${server.url}/mcp`, rpc(callTool('tidb_list_regions'), tenant()));
    server.clock.advance(1001);
    const { text } = await ask(`${server.url}/metrics`);
    expect(text).toContain(`tidb_mcp_proven_credentials ${status === 401 ? 0 : 1}\n`);
    expect((await ask(`${server.url}/v1/capabilities`, bearer(tenant()))).status).toBe(status === 401 ? 401 : 200);
  });
});

describe('A wall clock that steps', () => {
  it('reopens no day and fills no bucket, forwards and backwards', async () => {
    const server = await startTestServer({ TIDB_MCP_DAILY_QUOTA: '5' });
    const call = () =>
      ask(`${server.url}/v1/capabilities`, bearer(`${server.sandbox.publicKey}:${server.sandbox.privateKey}`));
    const noon = server.clock.utcMs();
    for (let i = 0; i < 5; i += 1) expect((await call()).status).toBe(200);
    const served = new Map<number, number>([[0, 5]]);
    for (const days of [0, -0.04, 0, 1, 1, 0, -1, 1, 0, -1, 0.4, 1.2, 0, -0.9, 1, 0]) {
      server.clock.setUtc(noon + days * DAY_MS);
      const day = Math.floor(0.5 + days);
      for (let i = 0; i < 2; i += 1) {
        if ((await call()).status === 200) served.set(day, (served.get(day) ?? 0) + 1);
        server.clock.advance(1000);
      }
    }
    expect(Object.fromEntries(served)).toEqual({ '-1': 5, '0': 5, '1': 5 });
    for (let i = 0; i < 5; i += 1) await ask(`${server.url}/v1/clusters`);
    for (const utcMs of [noon + DAY_MS, noon - DAY_MS]) {
      server.clock.setUtc(utcMs);
      expect((await ask(`${server.url}/v1/clusters`)).json().limit).toBe('preauth');
    }
    await server.stop();
  });
});
