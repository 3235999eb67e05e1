import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ConfirmClient } from '../support/confirm-client.js';
import { startTestServer, type TestServer } from '../support/test-server.js';

const ROOMY = { TIDB_MCP_TENANT_RPS: '1000', TIDB_MCP_TENANT_BURST: '1000' };
const META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'raw', version: '1' },
};

let server: TestServer;
let rest: ConfirmClient;
let credential: string;

beforeAll(async () => {
  server = await startTestServer(ROOMY);
  credential = `${server.sandbox.publicKey}:${server.sandbox.privateKey}`;
  rest = new ConfirmClient(server.url, credential);
});
afterAll(() => server.stop());
beforeEach(() => {
  server.sandbox.requests.length = 0;
});

const performing = () => server.sandbox.requests.filter(({ method, status }) => method !== 'GET' && status !== 401);

/** A client that asks its person, who answers `answer`. */
async function connect(answer: { action: 'accept' | 'decline' | 'cancel'; content?: Record<string, boolean> }) {
  const asked: string[] = [];
  const client = new Client(
    { name: 'test', version: '1' },
    { versionNegotiation: { mode: 'auto' }, capabilities: { elicitation: { form: {} } } },
  );
  client.setRequestHandler('elicitation/create', (request) => {
    asked.push(request.params.message);
    return answer;
  });
  const transport = new StreamableHTTPClientTransport(new URL('/mcp', server.url), {
    requestInit: { headers: { authorization: `Bearer ${credential}` } },
  });
  await client.connect(transport);
  return { client, asked };
}

/** One raw confirm of the newer revision. */
async function confirmRaw(capabilities: object, params: Record<string, unknown>) {
  const meta = { ...META, 'io.modelcontextprotocol/clientCapabilities': capabilities };
  const response = await fetch(`${server.url}/mcp`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${credential}`,
      accept: 'application/json, text/event-stream',
      'content-type': 'application/json',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'tools/call',
      'mcp-name': 'tidb_confirm',
    },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'tidb_confirm', _meta: meta, ...params },
    }),
  });
  return (await response.json()) as { result?: Record<string, unknown>; error?: unknown };
}

describe('A client of the newer revision that can ask its person', () => {
  it('asks in the words of the preflight, and performs once when they agree', async () => {
    const preflight = await rest.preflight('delete_cluster', { clusterId: await rest.cluster(0) });
    const { confirmationToken, summary } = preflight.json<{ confirmationToken: string; summary: string }>();
    const { client, asked } = await connect({ action: 'accept', content: { confirm: true } });
    const result = await client.callTool({ name: 'tidb_confirm', arguments: { confirmationToken } });
    expect(asked).toEqual([summary]);
    expect(result.structuredContent).toMatchObject({ outcome: 'done', operation: 'delete_cluster' });
    expect(performing()).toHaveLength(1);
    await client.close();
  });

  it.each([
    ['declines', { action: 'decline' as const }],
    ['walks away', { action: 'cancel' as const }],
    ['says no in the form', { action: 'accept' as const, content: { confirm: false } }],
  ])('performs nothing when the person %s, and the confirmation stays unused', async (_how, answer) => {
    const token = await rest.token('delete_cluster', { clusterId: await rest.cluster(1) });
    const { client, asked } = await connect(answer);
    const result = await client.callTool({ name: 'tidb_confirm', arguments: { confirmationToken: token } });
    expect(asked).toHaveLength(1);
    expect(result).toMatchObject({ isError: true, structuredContent: { code: 'FORBIDDEN' } });
    expect(performing()).toEqual([]);
    await client.close();
  });

  it('is asked nothing about a confirmation that cannot be used', async () => {
    const { client, asked } = await connect({ action: 'accept', content: { confirm: true } });
    const result = await client.callTool({ name: 'tidb_confirm', arguments: { confirmationToken: 'A'.repeat(43) } });
    expect(result).toMatchObject({ isError: true, structuredContent: { code: 'CONFIRM_UNKNOWN' } });
    expect(asked).toEqual([]);
    await client.close();
  });

  it('gets no further with an answer to another question', async () => {
    const token = await rest.token('delete_cluster', { clusterId: await rest.cluster(2) });
    const other = await rest.token('delete_cluster', { clusterId: await rest.cluster(3) });
    const capabilities = { elicitation: { form: {} } };
    const first = await confirmRaw(capabilities, { arguments: { confirmationToken: token } });
    expect(first.result).toMatchObject({ resultType: 'input_required', requestState: token });
    const inputResponses = { confirm: { action: 'accept', content: { confirm: true } } };
    const stray = { arguments: { confirmationToken: token }, inputResponses, requestState: other };
    expect((await confirmRaw(capabilities, stray)).result).toMatchObject({
      isError: true,
      structuredContent: { code: 'INVALID_ARGUMENT' },
    });
    expect(performing()).toEqual([]);
  });
});

describe('A client that cannot ask its person', () => {
  it('needs a token just the same, and with it is let through', async () => {
    expect((await confirmRaw({}, { arguments: {} })).result).toMatchObject({
      isError: true,
      structuredContent: { code: 'INVALID_ARGUMENT' },
    });
    const answered = {
      inputResponses: { confirm: { action: 'accept', content: { confirm: true } } },
      requestState: 'A',
    };
    expect(
      (await confirmRaw({}, { arguments: { confirmationToken: 'A'.repeat(43) }, ...answered })).result,
    ).toMatchObject({
      isError: true,
      structuredContent: { code: 'CONFIRM_UNKNOWN' },
    });
    const token = await rest.token('delete_cluster', { clusterId: await rest.cluster(2) });
    expect((await confirmRaw({}, { arguments: { confirmationToken: token } })).result).toMatchObject({
      structuredContent: { outcome: 'done' },
    });
  });
});
