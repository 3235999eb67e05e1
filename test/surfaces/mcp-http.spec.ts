import { once } from 'node:events';
import { connect as connectSocket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Outcome } from '../../src/tidb-cloud/outcome.js';
import { DESCRIPTION, startSurfaces, type Surfaces } from './surface-harness.js';

type Json = Record<string, unknown>;

let surfaces: Surfaces;
beforeEach(async () => {
  surfaces = await startSurfaces();
});
afterEach(() => surfaces.close());

const LEGACY = { accept: 'application/json, text/event-stream', 'content-type': 'application/json' };
const MODERN_META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'raw', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
};

/** One raw `POST /mcp`, as a client of the older or the newer revisions sends it. */
function post(era: 'legacy' | 'modern', method: string, params: Json = {}, headers: Record<string, string> = {}) {
  const modern = era === 'modern';
  const name = typeof params['name'] === 'string' ? { 'mcp-name': params['name'] } : {};
  const modernHeaders = modern ? { 'mcp-protocol-version': '2026-07-28', 'mcp-method': method, ...name } : {};
  const sent = modern ? { ...params, _meta: MODERN_META } : params;
  return fetch(`${surfaces.url}/mcp`, {
    method: 'POST',
    headers: { ...LEGACY, ...modernHeaders, ...headers },
    body: JSON.stringify({ jsonrpc: '2.0', id: 7, method, params: sent }),
  });
}

/** The JSON-RPC message in an answer. */
async function messageOf(response: Response): Promise<{ id?: unknown; result?: Json; error?: Json }> {
  return (await response.json()) as { id?: unknown; result?: Json; error?: Json };
}

const callList = (era: 'legacy' | 'modern', args: Json = {}) =>
  post(era, 'tools/call', { name: 'tidb_list_clusters', arguments: args });

describe.each(['legacy', 'modern'] as const)('POST /mcp (%s revision)', (era) => {
  it('answers 401 when TiDB Cloud rejects the credential in a tool, so that the client signs in again', async () => {
    surfaces.tidbCloud.answer = () => ({ kind: 'rejected' });
    const response = await callList(era);
    expect(response.status).toBe(401);
    const { error } = await messageOf(response);
    expect(error).toMatchObject({ code: era === 'modern' ? 401 : -32001, data: { code: 'UNAUTHENTICATED' } });
    expect(surfaces.forgotten).toHaveLength(1);
  });

  it('writes no header before the answer is there', async () => {
    let finish: (outcome: Outcome<unknown>) => void = () => {};
    surfaces.tidbCloud.answer = () => new Promise((resolve) => (finish = resolve));
    let headersAreThere = false;
    const response = callList(era).then((arrived) => {
      headersAreThere = true;
      return arrived;
    });
    await expect.poll(() => surfaces.tidbCloud.requests.length).toBe(1);
    await new Promise((resolve) => setTimeout(resolve, 30));
    expect(headersAreThere).toBe(false);
    finish({ kind: 'ok', value: { clusters: [] } });
    expect((await messageOf(await response)).result).toMatchObject({ structuredContent: { items: [] } });
  });

  it('is one piece of JSON, never cached and never held back by a proxy', async () => {
    const response = await callList(era);
    expect(response.headers.get('cache-control')).toBe('no-store, no-transform');
    expect(response.headers.get('x-accel-buffering')).toBe('no');
    expect(response.headers.get('content-type')).toBe('application/json');
    const text = await response.text();
    expect(response.headers.get('content-length')).toBe(String(Buffer.byteLength(text)));
    expect(JSON.parse(text)).toMatchObject({ jsonrpc: '2.0', result: {} });
  });

  it('aborts the request to TiDB Cloud when the caller goes away', async () => {
    surfaces.tidbCloud.answer = (_request, signal) =>
      new Promise((resolve) => {
        signal.addEventListener('abort', () => resolve({ kind: 'unavailable', reason: 'aborted', sent: true }));
      });
    const leaving = new AbortController();
    const name = 'tidb_list_clusters';
    const params = { name, arguments: {}, ...(era === 'modern' ? { _meta: MODERN_META } : {}) };
    const modern = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': name };
    const response = fetch(`${surfaces.url}/mcp`, {
      method: 'POST',
      signal: leaving.signal,
      headers: { ...LEGACY, ...(era === 'modern' ? modern : {}) },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
    });
    await expect.poll(() => surfaces.tidbCloud.signals.length).toBe(1);
    leaving.abort();
    await expect(response).rejects.toThrow();
    await expect.poll(() => surfaces.tidbCloud.signals[0]?.aborted).toBe(true);
  });

  it('knows no subscriptions/listen and keeps no stream open', async () => {
    const response = await post(era, 'subscriptions/listen', { notifications: { toolsListChanged: true } });
    expect(response.status).toBe(era === 'modern' ? 404 : 200);
    expect((await messageOf(response)).error).toMatchObject({ code: -32601, message: 'Method not found' });
  });

  it('refuses a batch: one request, one call', async () => {
    const call = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} };
    const response = await fetch(`${surfaces.url}/mcp`, {
      method: 'POST',
      headers: { ...LEGACY, ...(era === 'modern' ? { 'mcp-protocol-version': '2026-07-28' } : {}) },
      body: JSON.stringify([call, call]),
    });
    expect(response.status).toBe(400);
    const { error } = await messageOf(response);
    expect(error).toMatchObject({
      code: -32600,
      message: expect.stringContaining('one request, one call') as string,
      data: { code: 'INVALID_ARGUMENT' },
    });
  });

  it('tells a fault of its own without telling what it was', async () => {
    surfaces.tidbCloud.answer = () => {
      throw new Error('secret detail');
    };
    const text = await (await callList(era)).text();
    expect(text).toContain('INTERNAL');
    expect(text).not.toContain('secret');
  });
});

describe('POST /mcp', () => {
  it('answers a notification with 202 and nothing', async () => {
    const response = await fetch(`${surfaces.url}/mcp`, {
      method: 'POST',
      headers: LEGACY,
      body: JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' }),
    });
    expect(response.status).toBe(202);
    expect(await response.text()).toBe('');
  });

  it.each(['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'])(
    'greets a client of revision %s in it',
    async (v) => {
      const params = { protocolVersion: v, capabilities: {}, clientInfo: { name: 'raw', version: '1' } };
      const { result } = await messageOf(await post('legacy', 'initialize', params));
      expect(result).toMatchObject({ protocolVersion: v, serverInfo: { name: 'tidb-cloud-mcp' } });
    },
  );

  it.each(['*/*', 'application/json', 'text/plain;q=0.5, Application/JSON'])(
    'takes a client that takes %s',
    async (accept) => {
      const response = await post('legacy', 'tools/list', {}, { accept });
      expect(response.status).toBe(200);
      expect((await messageOf(response)).result).toHaveProperty('tools');
    },
  );

  it.each([
    ['a client that takes no JSON', { accept: 'text/event-stream' }, undefined],
    ['a revision that nobody knows', { 'mcp-protocol-version': '1999-01-01' }, undefined],
    ['an object that is no message', {}, { hello: 'world' }],
    ['a text', {}, 'hello'],
  ])('refuses %s with 400 and a code of ours', async (_what, headers, body) => {
    const response = await fetch(`${surfaces.url}/mcp`, {
      method: 'POST',
      headers: { ...LEGACY, ...headers },
      body: JSON.stringify(body ?? { jsonrpc: '2.0', id: 1, method: 'tools/list' }),
    });
    expect(response.status).toBe(400);
    expect((await messageOf(response)).error).toMatchObject({ code: -32600, data: { code: 'INVALID_ARGUMENT' } });
  });

  it('lets a newer client see which revisions are served', async () => {
    const meta = { ...MODERN_META, 'io.modelcontextprotocol/protocolVersion': '2099-01-01' };
    const response = await fetch(`${surfaces.url}/mcp`, {
      method: 'POST',
      headers: { ...LEGACY, 'mcp-protocol-version': '2099-01-01', 'mcp-method': 'tools/list' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: { _meta: meta } }),
    });
    expect(response.status).toBe(400);
    expect((await messageOf(response)).error).toMatchObject({ data: { supported: ['2026-07-28'] } });
  });

  it('tells the caller of a shared token nothing to sign in again for, since the rejected key is the server’s', async () => {
    surfaces.kind = 'shared';
    surfaces.tidbCloud.answer = () => ({ kind: 'rejected' });
    const { result } = await messageOf(await callList('legacy'));
    expect(result).toMatchObject({ isError: true, structuredContent: { code: 'SERVER_KEY_REJECTED' } });
    expect(surfaces.forgotten).toEqual([]);
  });

  it('serves the next call on a connection after one that failed', async () => {
    const { port } = new URL(surfaces.url);
    const socket = connectSocket(Number(port), '127.0.0.1');
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'tidb_capabilities' } });
    const head = `POST /mcp HTTP/1.1\r\nhost: x\r\naccept: */*\r\ncontent-type: application/json\r\n`;
    const request = `${head}content-length: ${body.length}\r\n\r\n${body}`;
    let received = '';
    socket.on('data', (chunk: Buffer) => (received += chunk.toString()));
    socket.write(request);
    await expect.poll(() => received).toContain('structuredContent');
    received = '';
    socket.write(request);
    await expect.poll(() => received).toContain(DESCRIPTION.server.instanceId);
    socket.end();
    await once(socket, 'close');
  });
});
