import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { OPERATIONS } from '../../src/capabilities/operations.js';
import { toolName } from '../../src/capabilities/operation.js';
import { type Sandbox, startSandbox } from '../../src/sandbox/sandbox.adapter.js';
import { requestText, sendRaw } from '../support/raw-http.js';
import { ask, bearer, callTool, rpc } from '../support/test-server.js';
import { Collector } from './collector.js';
import { Program } from './program.js';
import { answer, proving, ScriptedUpstream } from './scripted-upstream.js';
import {
  ADMIN_TOKEN,
  basic,
  BODY_SECRET,
  COLLECTOR_SECRET,
  DATABASE_PASSWORD,
  found,
  pair,
  REVOKED,
  SECRETS,
  SERVER_KEY,
  SHARED_TOKEN,
  TENANT,
  UNKNOWN,
  UPSTREAM_BODY,
} from './secrets.js';

const folder = mkdtempSync(join(tmpdir(), 'secrecy-'));
/** Everything that went to callers, heads and bodies. */
const answers: string[] = [];
let sandbox: Sandbox;
let collector: Collector;

async function keep(url: string, init: RequestInit = {}): Promise<number> {
  const { status, headers, text } = await ask(url, init);
  answers.push(JSON.stringify([...headers]), text);
  return status;
}

/** Every surface, every operation and every kind of failure, with secrets in all places that a caller can write. */
async function wholeRun({ url, port }: Program): Promise<void> {
  for (const credential of [
    pair(TENANT),
    TENANT.token,
    pair(UNKNOWN),
    pair(REVOKED),
    REVOKED.token,
    ADMIN_TOKEN,
    SHARED_TOKEN,
  ]) {
    await keep(`${url}/v1/capabilities`, bearer(credential));
    await keep(`${url}/mcp`, rpc(callTool('tidb_list_clusters'), credential));
    await keep(`${url}/metrics`, bearer(credential));
    await keep(`${url}/nowhere`, bearer(credential));
  }
  await keep(`${url}/v1/clusters?pageSize=100`, { headers: { authorization: basic(pair(TENANT)) } });
  await keep(`${url}/v1/projects`, bearer(pair(TENANT)));
  const { items } = (await ask(`${url}/v1/clusters?pageSize=100`, bearer(pair(TENANT)))).json();
  for (const { clusterId } of items.slice(0, 10)) await keep(`${url}/v1/clusters/${clusterId}`, bearer(pair(TENANT)));
  for (const operation of OPERATIONS) {
    const args = { clusterId: items[0].clusterId, branchId: BODY_SECRET };
    await keep(`${url}/mcp`, rpc(callTool(toolName(operation), operation.example.input), pair(TENANT)));
    await keep(`${url}/mcp`, rpc(callTool(toolName(operation), args), pair(TENANT)));
    await keep(`${url}/mcp`, rpc(callTool(toolName(operation), { [BODY_SECRET]: 1 }), TENANT.token));
  }
  await oddRequests(url, port);
  sandbox.rejectKey(REVOKED.publicKey);
  await keep(`${url}/v1/clusters`, bearer(pair(REVOKED)));
  sandbox.outage = true;
  await keep(`${url}/v1/clusters`, bearer(pair(TENANT)));
  await keep(`${url}/v1/clusters`, bearer(pair(UNKNOWN)));
  sandbox.outage = false;
  sandbox.garbage = true;
  await keep(`${url}/v1/clusters`, bearer(pair(TENANT)));
  sandbox.garbage = false;
  for (let i = 0; i < 60; i += 1) await keep(`${url}/v1/capabilities`, bearer(pair(TENANT)));
  for (const path of ['/health/live', '/health/ready', '/docs', '/openapi.json']) await keep(url + path);
  await new Promise((resolve) => setTimeout(resolve, 1300));
  await keep(`${url}/metrics`, bearer(ADMIN_TOKEN));
  await keep(`${url}/metrics`, { headers: { authorization: `Bearer ${ADMIN_TOKEN}`, accept: 'application/json' } });
}

async function oddRequests(url: string, port: number): Promise<void> {
  const authorization = `Bearer ${pair(TENANT)}`;
  const json = { authorization, 'content-type': 'application/json' };
  for (const body of [
    `{"${BODY_SECRET}`,
    `"${BODY_SECRET}"`,
    `[{"x":"${BODY_SECRET}"}]`,
    `{"method":"${BODY_SECRET}"}`,
  ]) {
    await keep(`${url}/mcp`, { method: 'POST', headers: json, body });
    await keep(`${url}/v1/preflight`, { method: 'POST', headers: json, body });
  }
  const texts = [
    requestText('GET /%zz', { authorization }),
    requestText('GET /v1/clusters', { authorization, 'content-type': ';;' }),
    requestText('GET /v1/clusters', { authorization, bad: 'x\u0000' }),
    requestText('GET /v1/clusters', { authorization, 'transfer-encoding': 'chunked', 'content-length': '3' }),
    requestText('POST /mcp', { authorization, expect: 'x' }),
    requestText('GET /v1/clusters', {
      authorization: `Digest username="${TENANT.publicKey}", response="${TENANT.privateKey}"`,
    }),
  ];
  for (const text of texts) answers.push((await sendRaw(port, [text], { quietMs: 50, untilMs: 2000 })).all);
  await new Promise<void>((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.on('close', () => resolve()).on('error', () => undefined);
    socket.write(requestText('POST /mcp', { ...json, 'content-length': '1000' }, `{"half":"${BODY_SECRET}`));
    setTimeout(() => socket.destroy(), 100);
  });
}

let output: string;
let database: string;

beforeAll(async () => {
  sandbox = await startSandbox({ keys: [SERVER_KEY, REVOKED, TENANT], rateLimitPerMinute: 1_000_000 });
  collector = await Collector.start();
  const program = await Program.start({
    TIDB_MCP_LOG_LEVEL: 'trace',
    TIDB_MCP_CONTROL_DB_URL: `sqlite:${join(folder, 'control.db')}`,
    TIDB_MCP_QUOTA_FLUSH_SECONDS: '1',
    TIDB_MCP_PERSIST_PROOF: 'true',
    TIDB_MCP_SERVERLESS_API_URL: sandbox.serverlessUrl,
    TIDB_MCP_IAM_API_URL: sandbox.iamUrl,
    TIDB_MCP_OAUTH_USERINFO_URL: sandbox.userinfoUrl,
    TIDB_MCP_V1_TOKENS: SHARED_TOKEN,
    TIDB_MCP_ADMIN_TOKEN: ADMIN_TOKEN,
    TIDB_CLOUD_PUBLIC_KEY: SERVER_KEY.publicKey,
    TIDB_CLOUD_PRIVATE_KEY: SERVER_KEY.privateKey,
    TIDB_MCP_PREAUTH_BURST: '1000',
    TIDB_MCP_TENANT_BURST: '90',
    TIDB_MCP_UPSTREAM_TIMEOUT_MS: '1000',
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_EXPORTER_OTLP_HEADERS: `api-key=${COLLECTOR_SECRET}`,
  });
  await wholeRun(program);
  expect(await program.stop()).toBe(0);
  output = program.output;
  database = readdirSync(folder)
    .map((name) => readFileSync(join(folder, name)).toString('latin1'))
    .join('\n');
}, 60_000);

afterAll(async () => {
  await sandbox.close();
  await collector.close();
  rmSync(folder, { recursive: true, force: true });
});

describe('After a whole run with every log line on', () => {
  it('much was written, or nothing would follow from what is not found', () => {
    expect(output).toMatch(/"level":"debug"/);
    const kinds = new Set(output.match(/(?<="event":")\w+/g));
    expect([...kinds]).toEqual(
      expect.arrayContaining([
        'server_started',
        'credential_proven',
        'credential_forgotten',
        'tool_called',
        'rate_limited',
      ]),
    );
    expect(collector.events().length).toBeGreaterThan(20);
    expect(database).toContain('quota_usage');
    expect(answers.join('')).toContain('TENANT_RATE_LIMITED');
    expect(answers.join('')).toContain('tidb_mcp_refusals_total');
  });

  it('no secret is in the logs and the telemetry', () => {
    expect(found(output, SECRETS)).toEqual([]);
  });

  it('no secret is in what a collector got', () => {
    expect(found(collector.bodies.join('\n'), SECRETS)).toEqual([]);
  });

  it('no secret is in the bytes of the control database', () => {
    expect(found(database, SECRETS)).toEqual([]);
  });

  it('no secret is in an answer, though what a caller calls things is said back to that caller', () => {
    const others = SECRETS.filter((secret) => secret !== BODY_SECRET);
    expect(found(answers.join('\n'), others)).toEqual([]);
  });

  it('no person of the account is in any of it', () => {
    const address = /[\w.]+(?:@|%40)sandbox\.example/;
    for (const text of [output, answers.join('\n'), database, collector.bodies.join('\n')])
      expect(text).not.toMatch(address);
  });

  it('no whole fingerprint is in the telemetry', () => {
    const events = output.split('\n').filter((line) => line.startsWith('{"event"'));
    expect(events.join('\n')).not.toMatch(/[0-9a-f]{64}/);
  });
});

describe('What an upstream says', () => {
  it('reaches neither logs nor telemetry, and of an error that is its own nobody', async () => {
    const upstream = await ScriptedUpstream.start();
    const program = await Program.start({
      TIDB_MCP_LOG_LEVEL: 'trace',
      TIDB_MCP_SERVERLESS_API_URL: upstream.url,
      TIDB_MCP_IAM_API_URL: upstream.url,
      TIDB_MCP_PREAUTH_BURST: '1000',
    });
    const told: string[] = [];
    const error = JSON.stringify({ code: 5, message: UPSTREAM_BODY, details: [] });
    const list = JSON.stringify({ regions: UPSTREAM_BODY, [UPSTREAM_BODY]: 1 });
    for (const [status, body] of [
      ['500 Oops', error],
      ['503 Busy', UPSTREAM_BODY],
      ['429 Slow', error],
      ['401 No', error],
      ['302 Found', UPSTREAM_BODY],
      ['200 OK', list],
      ['200 OK', UPSTREAM_BODY],
    ] as const) {
      upstream.script = proving((socket) => socket.write(answer(status, body)));
      told.push((await ask(`${program.url}/v1/regions`, bearer(pair(TENANT)))).text);
      told.push((await ask(`${program.url}/mcp`, rpc(callTool('tidb_list_regions'), pair(TENANT)))).text);
    }
    expect(await program.stop()).toBe(0);
    await upstream.close();
    expect(told.join('')).not.toContain(UPSTREAM_BODY);
    expect(program.output).not.toContain(UPSTREAM_BODY);
    expect(program.output).toContain('tool_called');
  });
});

describe('The password of the control database', () => {
  it.each(['mysql', 'postgres'])(
    'is in nothing that is written while a %s server cannot be reached',
    async (scheme) => {
      const program = await Program.start({
        TIDB_MCP_LOG_LEVEL: 'trace',
        TIDB_MCP_QUOTA_FLUSH_SECONDS: '1',
        TIDB_MCP_CONTROL_DB_URL: `${scheme}://operator:${encodeURIComponent(DATABASE_PASSWORD)}@127.0.0.1:1/db`,
        TIDB_MCP_SERVERLESS_API_URL: sandbox.serverlessUrl,
        TIDB_MCP_IAM_API_URL: sandbox.iamUrl,
      });
      const told: string[] = [];
      for (let i = 0; i < 4; i += 1) {
        told.push((await ask(`${program.url}/v1/capabilities`, bearer(pair(TENANT)))).text);
        told.push((await ask(`${program.url}/health/ready`)).text);
        await new Promise((resolve) => setTimeout(resolve, 300));
      }
      expect(await program.stop()).toBe(0);
      expect(told.join('')).toContain('"persistenceDegraded":true');
      expect(program.output).toContain('quota_degraded');
      expect(found(program.output + told.join(''), [DATABASE_PASSWORD])).toEqual([]);
    },
  );
});
