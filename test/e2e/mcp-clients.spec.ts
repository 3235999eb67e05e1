import { spawn } from 'node:child_process';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startTestServer, type TestServer } from '../support/test-server.js';

/** The built program; `npm test` builds it. */
const PROGRAM = 'dist/cli.js';
const TOOLS = [
  'tidb_capabilities',
  'tidb_list_projects',
  'tidb_list_regions',
  'tidb_list_clusters',
  'tidb_get_cluster',
  'tidb_list_branches',
  'tidb_get_branch',
  'tidb_list_backups',
  'tidb_preflight',
  'tidb_confirm',
];

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.stop());
beforeEach(() => server.clock.advance(60_000));

const stdioEnv = (): Record<string, string> => ({
  PATH: process.env['PATH'] ?? '',
  TIDB_CLOUD_PUBLIC_KEY: server.sandbox.publicKey,
  TIDB_CLOUD_PRIVATE_KEY: server.sandbox.privateKey,
  TIDB_MCP_SERVERLESS_API_URL: server.sandbox.serverlessUrl,
  TIDB_MCP_IAM_API_URL: server.sandbox.iamUrl,
  TIDB_MCP_CONTROL_DB_URL: 'sqlite::memory:',
});

async function connected(over: 'http' | 'stdio', mode: 'auto' | 'legacy'): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } });
  const authorization = `Bearer ${server.sandbox.publicKey}:${server.sandbox.privateKey}`;
  const transport =
    over === 'http'
      ? new StreamableHTTPClientTransport(new URL(`${server.url}/mcp`), { requestInit: { headers: { authorization } } })
      : new StdioClientTransport({
          command: process.execPath,
          args: [PROGRAM, 'stdio'],
          env: stdioEnv(),
          stderr: 'ignore',
        });
  await client.connect(transport);
  return client;
}

const ways = [
  ['http', 'auto'],
  ['http', 'legacy'],
  ['stdio', 'auto'],
  ['stdio', 'legacy'],
] as const;

describe('A client of the MCP SDK', () => {
  it.each(ways)('lists the tools and calls them over %s, negotiating %s', async (over, mode) => {
    const client = await connected(over, mode);
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(TOOLS);
    const result = await client.callTool({ name: 'tidb_capabilities', arguments: {} });
    expect(result.structuredContent).toMatchObject({
      server: { name: 'tidb-cloud-mcp', transport: over },
      limits: { enforced: over === 'http' },
    });
    expect(client.getInstructions()).toMatch(over === 'http' ? /quota/i : /TiDB/);
    await client.close();
  });

  it('gets the same answer whichever way it asks', async () => {
    const answers: unknown[] = [];
    for (const [over, mode] of ways) {
      const client = await connected(over, mode);
      const { structuredContent } = await client.callTool({ name: 'tidb_list_clusters', arguments: { pageSize: 5 } });
      answers.push(structuredContent);
      await client.close();
    }
    expect(answers[0]).toHaveProperty('items');
    for (const answer of answers) expect(answer).toEqual(answers[0]);
  });

  it('meets no limit at all on stdio', async () => {
    const client = await connected('stdio', 'auto');
    const calls = Array.from({ length: 60 }, () => client.callTool({ name: 'tidb_capabilities', arguments: {} }));
    expect((await Promise.all(calls)).every(({ isError }) => isError !== true)).toBe(true);
    await client.close();
  });
});

describe('The program on stdio', () => {
  it('writes nothing but the protocol to standard output, and ends cleanly with its input', async () => {
    const child = spawn(process.execPath, [PROGRAM, 'stdio'], { env: stdioEnv() });
    let [out, errors] = ['', ''];
    child.stdout.on('data', (data) => (out += data));
    child.stderr.on('data', (data) => (errors += data));
    const initialize = {
      jsonrpc: '2.0',
      id: 1,
      method: 'initialize',
      params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
    };
    child.stdin.write(`${JSON.stringify(initialize)}\n`);
    child.stdin.end(`${JSON.stringify({ jsonrpc: '2.0', id: 2, method: 'tools/list' })}\n`);
    const code = await new Promise((resolve) => child.on('exit', resolve));
    expect(code).toBe(0);
    const messages = out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { jsonrpc: string; id: number });
    expect(messages.map(({ jsonrpc, id }) => [jsonrpc, id])).toEqual([
      ['2.0', 1],
      ['2.0', 2],
    ]);
    expect(errors).not.toContain(server.sandbox.privateKey);
  });

  it('says what is missing without a key, and exits 78', async () => {
    const child = spawn(process.execPath, [PROGRAM, 'stdio'], { env: { PATH: process.env['PATH'] } });
    let errors = '';
    child.stderr.on('data', (data) => (errors += data));
    expect(await new Promise((resolve) => child.on('exit', resolve))).toBe(78);
    expect(errors).toMatch(/^TIDB_CLOUD_PUBLIC_KEY=: /m);
  });
});
