import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { requestText } from '../../test/support/raw-http.js';
import { answerUnreadable } from './unreadable.adapter.js';

let server: Server;
let listener: (response: ServerResponse) => void;
const errors: string[] = [];

beforeEach(async () => {
  errors.length = 0;
  server = createServer((_request, response) => listener(response)).on('clientError', answerUnreadable);
  server.on('connection', (socket: Socket) => socket.on('error', ({ message }) => errors.push(message)));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterEach(() => {
  server.closeAllConnections();
  server.close();
});

/** Sends, and reads until the connection is closed. */
async function exchange(text: string): Promise<string> {
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1').on('error', () => undefined);
  socket.write(text);
  return Buffer.concat(await socket.toArray()).toString('latin1');
}
const count = (all: string): number => all.split('HTTP/1.1 400').length - 1;

describe('A connection that is given up', () => {
  it('is answered once, however many errors its bytes bring while an answer is due', async () => {
    const waiting: number[] = [];
    const giveUpOften = (response: ServerResponse): void => {
      for (let n = 0; n < 20; n += 1) {
        server.emit('clientError', new Error('unreadable'), response.req.socket);
        waiting.push(response.listenerCount('close'));
      }
      response.end('due');
    };
    // By then the request has arrived whole.
    listener = (response) => void setImmediate(giveUpOften, response);
    const all = await exchange(requestText('GET /'));
    expect(all).toMatch(/due\r?\n?.*HTTP\/1\.1 400/s);
    expect(count(all)).toBe(1);
    expect(waiting.at(-1), 'nothing piles up').toBe(waiting[0]);
  });

  it('is closed without a word where the answer to half a request has begun', async () => {
    listener = (response) => response.write('begun');
    const text = requestText('POST /', { 'transfer-encoding': 'chunked' });
    const all = await exchange(`${text}zz\r\n`);
    expect([all.includes('HTTP/1.1 400'), count(all)]).toEqual([false, 0]);
  });

  it('is not written to once the last answer has closed it', async () => {
    listener = (response) => setImmediate(() => response.end('last'));
    const all = await exchange(`${requestText('GET /', { connection: 'close' })}GARBAGE\r\n\r\n`);
    expect([all.endsWith('last'), errors.filter((message) => message.includes('after end'))]).toEqual([true, []]);
  });
});
