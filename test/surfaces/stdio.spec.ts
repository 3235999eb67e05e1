import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { TOOL_LIST } from '../../src/capabilities/mcp-tools.js';
import { configOf } from '../../src/config/parse-config.js';
import { type Sandbox, startSandbox } from '../../src/sandbox/sandbox.adapter.js';
import { startStdio } from '../../src/stdio.js';

type Message = { id?: unknown; result?: Record<string, unknown>; error?: { code: number; message: string } };

const INITIALIZE = {
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'raw', version: '1' } },
};
const META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'raw', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
};

let sandbox: Sandbox;
beforeEach(async () => {
  sandbox = await startSandbox();
});
afterEach(() => sandbox.close());

/** A local server on streams of its own. */
function start(env: Record<string, string> = {}) {
  const stdin = new PassThrough();
  const stdout = new PassThrough();
  const stderr = new PassThrough();
  let written = '';
  let errors = '';
  stdout.on('data', (chunk: Buffer) => (written += chunk.toString()));
  stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()));
  const config = configOf(
    {
      TIDB_CLOUD_PUBLIC_KEY: sandbox.publicKey,
      TIDB_CLOUD_PRIVATE_KEY: sandbox.privateKey,
      TIDB_MCP_SERVERLESS_API_URL: sandbox.serverlessUrl,
      TIDB_MCP_IAM_API_URL: sandbox.iamUrl,
      TIDB_MCP_LOG_LEVEL: 'silent',
      TIDB_MCP_TELEMETRY: 'off',
      TIDB_MCP_CONTROL_DB_URL: 'mysql://nobody@127.0.0.1:1/nothing',
      ...env,
    },
    'stdio',
  );
  const ended = startStdio(config, [], { stdin, stdout, stderr });
  const send = (message: Record<string, unknown>) => stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  const messages = () =>
    written
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as Message);
  const answerTo = async (id: number) => {
    await expect.poll(() => messages().find((message) => message.id === id), { timeout: 5000 }).toBeDefined();
    return messages().find((message) => message.id === id)!;
  };
  return { stdin, ended, send, messages, answerTo, errors: () => errors };
}

const call = (id: number, name: string, args: Record<string, unknown> = {}, meta?: Record<string, unknown>) => ({
  id,
  method: 'tools/call',
  params: { name, arguments: args, ...(meta === undefined ? {} : { _meta: meta }) },
});

describe('The local server', () => {
  it('says that it has no limits, and has none', async () => {
    const server = start();
    server.send({ id: 0, ...INITIALIZE });
    for (let id = 1; id <= 60; id += 1) server.send(call(id, 'tidb_capabilities'));
    const { result } = await server.answerTo(60);
    expect(result).toMatchObject({
      structuredContent: { server: { transport: 'stdio' }, limits: { enforced: false }, liveInstances: 1 },
    });
    expect(server.messages().filter((message) => message.result === undefined)).toEqual([]);
    server.stdin.end();
    expect(await server.ended).toBe(0);
  });

  it('reads TiDB Cloud with the configured key, without a control database', async () => {
    const server = start();
    server.send(call(1, 'tidb_list_clusters', { pageSize: 1 }));
    server.send(call(2, 'tidb_list_projects'));
    const { result } = await server.answerTo(1);
    expect(result).toMatchObject({ structuredContent: { items: [{ clusterId: expect.any(String) as string }] } });
    expect((await server.answerTo(2)).result).toMatchObject({ structuredContent: { items: expect.any(Array) as [] } });
    server.stdin.end();
    expect(await server.ended).toBe(0);
  });

  it('serves every operation as TiDB Cloud has it, within the schemas that the tools promise', async () => {
    const server = start();
    let id = 0;
    const items = async (name: string, args: Record<string, unknown> = {}) => {
      id += 1;
      server.send(call(id, name, args));
      const { result } = await server.answerTo(id);
      const { outputSchema } = TOOL_LIST.tools.find((tool) => tool.name === name)!;
      expect(new Ajv2020().validate(outputSchema as object, result?.['structuredContent']), name).toBe(true);
      expect(result?.['isError'], name).toBeUndefined();
      expect(JSON.stringify(result), name).not.toMatch(/@|createdBy/);
      const { items: found = [] } = { ...(result?.['structuredContent'] as { items?: Record<string, string>[] }) };
      return found;
    };
    expect((await items('tidb_list_projects')).length).toBeGreaterThan(0);
    expect((await items('tidb_list_regions', { cloudProvider: 'aws' })).length).toBeGreaterThan(0);
    const [cluster] = await items('tidb_list_clusters', { filter: 'state="ACTIVE"', pageSize: 1 });
    const clusterId = cluster?.['clusterId'];
    await items('tidb_get_cluster', { clusterId });
    const [branch] = await items('tidb_list_branches', { clusterId });
    await items('tidb_get_branch', { clusterId, branchId: branch?.['branchId'] });
    expect((await items('tidb_list_backups', { clusterId })).length).toBeGreaterThan(0);
    server.stdin.end();
    expect(await server.ended).toBe(0);
  });

  it('changes something in two steps, with a ledger in the user’s state folder that outlives it', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'state-'));
    vi.stubEnv('XDG_STATE_HOME', folder);
    const env = { TIDB_MCP_CONTROL_DB_URL: '' };
    const first = start(env);
    first.send(call(1, 'tidb_list_clusters', { pageSize: 1 }));
    const { items } = {
      ...((await first.answerTo(1)).result?.['structuredContent'] as { items?: { clusterId: string }[] }),
    };
    first.send(
      call(2, 'tidb_preflight', { operation: 'delete_cluster', arguments: { clusterId: items?.[0]?.clusterId } }),
    );
    const shown = (await first.answerTo(2)).result?.['structuredContent'] as { confirmationToken: string };
    expect(shown.confirmationToken).toMatch(/^[\w-]{43}$/);
    first.stdin.end();
    await first.ended;
    const second = start(env);
    second.send(call(1, 'tidb_confirm', { confirmationToken: shown.confirmationToken }));
    expect((await second.answerTo(1)).result).toMatchObject({ structuredContent: { outcome: 'done' } });
    second.stdin.end();
    expect(await second.ended).toBe(0);
    vi.unstubAllEnvs();
    rmSync(folder, { recursive: true });
  });

  it('refuses to change anything where it cannot reach its ledger, and reads on', async () => {
    const server = start();
    server.send(call(1, 'tidb_preflight', { operation: 'delete_cluster', arguments: { clusterId: '1' } }));
    expect((await server.answerTo(1)).result).toMatchObject({
      isError: true,
      structuredContent: { code: 'CONFIRM_LEDGER_UNAVAILABLE' },
    });
    server.send(call(2, 'tidb_list_clusters'));
    expect((await server.answerTo(2)).result).toHaveProperty('structuredContent.items');
    server.stdin.end();
    expect(await server.ended).toBe(0);
  });

  it('answers what is under way before it ends with its input', async () => {
    sandbox.slowMs = 100;
    const server = start();
    server.send({ id: 0, ...INITIALIZE });
    server.send(call(1, 'tidb_list_clusters'));
    server.stdin.end();
    expect(await server.ended).toBe(0);
    expect(server.messages().map(({ id }) => id)).toEqual([0, 1]);
    expect(server.messages()[1]?.result).toHaveProperty('structuredContent.items');
  });

  it('stops asking TiDB Cloud when the client cancels the call', async () => {
    sandbox.hang = true;
    const server = start();
    server.send({ id: 0, ...INITIALIZE });
    server.send(call(1, 'tidb_list_clusters'));
    await server.answerTo(0);
    server.send({ method: 'notifications/cancelled', params: { requestId: 1, reason: 'changed my mind' } });
    server.stdin.end();
    expect(await server.ended).toBe(0);
    expect(server.messages().map(({ id }) => id)).toEqual([0]);
  });

  it('speaks the newer revision, where it knows no subscriptions/listen', async () => {
    const server = start();
    server.send({ id: 1, method: 'server/discover', params: { _meta: META } });
    server.send({ id: 2, method: 'tools/list', params: { _meta: META } });
    server.send(call(3, 'tidb_capabilities', {}, META));
    server.send({
      id: 4,
      method: 'subscriptions/listen',
      params: { _meta: META, notifications: { toolsListChanged: true } },
    });
    expect((await server.answerTo(1)).result).toHaveProperty('instructions');
    expect((await server.answerTo(2)).result).toHaveProperty('tools.length', 10);
    expect((await server.answerTo(3)).result).toMatchObject({ structuredContent: { limits: { enforced: false } } });
    expect((await server.answerTo(4)).error).toMatchObject({ code: -32601 });
    server.stdin.end();
    expect(await server.ended).toBe(0);
  });

  it('tells the user when TiDB Cloud rejects the key', async () => {
    const server = start({ TIDB_CLOUD_PRIVATE_KEY: 'wrong' });
    server.send(call(1, 'tidb_list_clusters'));
    const { result } = await server.answerTo(1);
    expect(result).toMatchObject({ isError: true, structuredContent: { code: 'UNAUTHENTICATED' } });
    server.stdin.end();
    expect(await server.ended).toBe(0);
  });

  it('writes nothing but the protocol to standard output', async () => {
    const stdout = vi.spyOn(process.stdout, 'write');
    const server = start({ TIDB_MCP_TELEMETRY: 'stdout', TIDB_MCP_LOG_LEVEL: 'fatal' });
    server.send(call(1, 'tidb_list_clusters'));
    await server.answerTo(1);
    server.stdin.end();
    await server.ended;
    const written = stdout.mock.calls.map(([chunk]) => String(chunk)).filter((text) => text.includes('"event"'));
    stdout.mockRestore();
    expect(written).toEqual([]);
  });

  it('does not start without a key and says which variable is missing', async () => {
    const server = start({ TIDB_CLOUD_PUBLIC_KEY: '', TIDB_CLOUD_PRIVATE_KEY: '' });
    expect(await server.ended).toBe(78);
    expect(server.errors()).toMatch(/^TIDB_CLOUD_PUBLIC_KEY=: is not set, allowed: .*\n$/);
  });
});
