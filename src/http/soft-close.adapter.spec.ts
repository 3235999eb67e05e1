import { EventEmitter } from 'node:events';
import type { IncomingMessage, Server } from 'node:http';
import { connect, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { parseAnswers } from '../../test/hostile/raw-connection.js';
import { requestText } from '../../test/support/raw-http.js';
import { ask, startTestServer, type TestServer } from '../../test/support/test-server.js';
import { closeSoftly } from './soft-close.adapter.js';

const CHUNKED = { 'content-type': 'application/json', 'transfer-encoding': 'chunked' };
const CHUNK = `10000\r\n${'x'.repeat(0x10000)}\r\n`;
const REFUSED_WITH_BODY = requestText('POST /mcp', CHUNKED);

describe('A client whose connection ends', () => {
  let server: TestServer;
  beforeEach(async () => {
    server = await startTestServer({ TIDB_MCP_PREAUTH_BURST: '1' });
  });
  afterEach(() => server.stop());

  /** Sends `first`, then `more` for as long as the connection takes it, and tells how its other half ended. */
  function converse(first: string, more = CHUNK): Promise<{ statuses: number[]; rest: string; end: string }> {
    return new Promise((resolve) => {
      const socket = connect({ port: server.port, host: '127.0.0.1', allowHalfOpen: true });
      let [received, end] = ['', 'closed'];
      const goOn = (): void => {
        if (more !== '' && socket.writable) socket.write(more, () => setImmediate(goOn));
      };
      socket.on('data', (data) => (received += data.toString('latin1')));
      socket.on('end', () => {
        end = 'ended';
        if (more === '') socket.end();
      });
      socket.on('error', (error: NodeJS.ErrnoException) => end === 'closed' && (end = error.code ?? 'broken'));
      socket.on('close', () => {
        const { answers, rest } = parseAnswers(received);
        resolve({ statuses: answers.map(({ status }) => status), rest, end });
      });
      socket.write(first, goOn);
    });
  }

  it('gets to read the refusal while it is still sending its body', async () => {
    await ask(`${server.url}/nowhere`);
    const sockets: Socket[] = [];
    const http: Server = server.running.app.getHttpServer();
    http.on('connection', (socket) => sockets.push(socket));
    expect(await converse(REFUSED_WITH_BODY)).toEqual({ statuses: [429], rest: '', end: 'ended' });
    // What came with the head, and no more of what was sent for the second that the connection stayed.
    expect(sockets.map(({ bytesRead }) => bytesRead < 1_000_000)).toEqual([true]);
  });

  it('gets the one refusal whole where it pipelined another request behind the refused one', async () => {
    await ask(`${server.url}/nowhere`);
    const whole = `${REFUSED_WITH_BODY}1\r\nx\r\n0\r\n\r\n`;
    const behind = requestText('GET /v1/capabilities');
    const ended = { statuses: [429], rest: '', end: 'ended' };
    expect(await converse(whole + behind, '')).toEqual(ended);
    expect(await converse(whole + behind, behind.repeat(100))).toEqual(ended);
    expect(await converse(whole + REFUSED_WITH_BODY)).toEqual(ended);
  });

  it('gets the answer to its first request before the refusal of the one that it pipelined behind it', async () => {
    const { publicKey, privateKey } = server.sandbox;
    const first = requestText('GET /v1/capabilities', { authorization: `Bearer ${publicKey}:${privateKey}` });
    expect(await converse(first + REFUSED_WITH_BODY)).toEqual({ statuses: [200, 429], rest: '', end: 'ended' });
  });
});

describe('A connection that ends softly', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  function ending(): { socket: EventEmitter; calls: string[] } {
    const calls: string[] = [];
    const noted = (name: string) => () => void calls.push(name);
    const socket = Object.assign(new EventEmitter(), {
      end: noted('end'),
      pause: noted('pause'),
      destroy: noted('destroy'),
      destroySoon: noted('destroySoon'),
    });
    closeSoftly({ socket } as unknown as IncomingMessage);
    socket.destroySoon();
    return { socket, calls };
  }

  it('is read no more, and closed after a second all the same', () => {
    const { calls } = ending();
    expect(calls).toEqual(['end', 'pause']);
    vi.advanceTimersByTime(1000);
    expect(calls).toEqual(['end', 'pause', 'destroy']);
  });

  it('leaves no timer behind once the client has closed it', () => {
    const { socket } = ending();
    socket.emit('close');
    expect(vi.getTimerCount()).toBe(0);
  });
});
