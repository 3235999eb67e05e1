import { InMemoryTransport, type JSONRPCMessage } from '@modelcontextprotocol/server';
import { describe, expect, it } from 'vitest';
import { ProtocolServer } from './mcp-protocol-server.js';

function withResolvers(): { promise: Promise<JSONRPCMessage>; resolve: (message: JSONRPCMessage) => void } {
  let resolve!: (message: JSONRPCMessage) => void;
  const promise = new Promise<JSONRPCMessage>((ok) => (resolve = ok));
  return { promise, resolve };
}

/** What a server says to one message. */
async function say(server: ProtocolServer, method: string, params?: Record<string, unknown>) {
  const [ours, theirs] = InMemoryTransport.createLinkedPair();
  const { promise, resolve } = withResolvers();
  // A transport has this one listener, which is no event of the DOM.
  // oxlint-disable-next-line unicorn/prefer-add-event-listener
  theirs.onmessage = resolve;
  await theirs.start();
  await server.connect(ours);
  await theirs.send({ jsonrpc: '2.0', id: 1, method, ...(params === undefined ? {} : { params }) });
  return promise;
}

const server = (callTool: () => Promise<never>) => {
  const made = new ProtocolServer({ name: 'test', version: '1' }, { capabilities: { tools: {} } });
  made.setRequestHandler('tools/call', callTool);
  return made;
};

describe('A request whose parameters cannot be read', () => {
  it.each([
    ['initialize', undefined],
    ['initialize', { protocolVersion: 7 }],
    ['tools/call', undefined],
    ['tools/call', { name: {} }],
  ])('is the mistake of its sender: %s %j', async (method, params) => {
    const answer = await say(
      server(() => Promise.reject(new Error('never called'))),
      method,
      params,
    );
    expect(answer).toMatchObject({ id: 1, error: { code: -32602 } });
    expect(JSON.stringify(answer).length).toBeLessThan(1500);
  });
});

describe('A fault of ours', () => {
  it('is an internal error that tells nothing of the inside', async () => {
    const answer = await say(
      server(() => Promise.reject(new Error('secret at /etc'))),
      'tools/call',
      { name: 'x' },
    );
    expect(answer).toMatchObject({ error: { code: -32603, message: 'This server failed to do that.' } });
  });
});
