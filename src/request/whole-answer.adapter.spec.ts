import { createServer, type Server, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { requestText, sendRaw } from '../../test/support/raw-http.js';
import { writeWhole } from './whole-answer.adapter.js';

let server: Server;
let port: number;
let answer: (response: ServerResponse) => void;

beforeEach(async () => {
  server = createServer((_request, response) => answer(response)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  ({ port } = server.address() as AddressInfo);
});
afterEach(() => {
  server.closeAllConnections();
  server.close();
});

const headersOf = (body: string): string[] => ['x-own', 'yes', 'content-length', String(Buffer.byteLength(body))];
const asked = (line = 'GET /') => requestText(line, { connection: 'close' });
const dateless = (head: string) => head.replace(/^date: .*\r\n/im, '');

describe('A whole answer', () => {
  it('is, byte for byte, what Node’s own end would write', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'grapheme', maxLength: 3000 }), async (body) => {
        answer = (response) => response.writeHead(429, headersOf(body)).end(body);
        const theirs = await sendRaw(port, [asked()]);
        answer = (response) => writeWhole(response, 429, headersOf(body), body);
        const ours = await sendRaw(port, [asked()]);
        expect([ours.status, dateless(ours.head), ours.body]).toEqual([429, dateless(theirs.head), theirs.body]);
      }),
      { numRuns: 30 },
    );
  });

  it('has no body where HEAD was asked', async () => {
    answer = (response) => writeWhole(response, 200, headersOf('text'), 'text');
    const { head, body } = await sendRaw(port, [asked('HEAD /')]);
    expect([head.includes('content-length: 4'), body]).toEqual([true, '']);
  });

  it('waits for its turn on a pipelined connection', async () => {
    const waiting: ServerResponse[] = [];
    answer = (response) => {
      waiting.unshift(response);
      if (waiting.length < 3) return;
      // The last one first.
      for (const each of waiting) writeWhole(each, 200, headersOf(each.req.url ?? ''), each.req.url ?? '');
    };
    const text = [requestText('GET /1'), requestText('GET /2'), asked('GET /3')].join('');
    const socket = connect(port, '127.0.0.1').end(text);
    const all = Buffer.concat(await socket.toArray()).toString();
    expect([...all.matchAll(/\r\n\r\n(\/\d)/g)].map(([, path]) => path)).toEqual(['/1', '/2', '/3']);
  });

  it('ends, once it is out', async () => {
    const finished = new Promise<boolean>((resolve) => {
      answer = (response) => {
        response.once('finish', () => resolve(response.writableFinished));
        writeWhole(response, 200, headersOf('text'), 'text');
      };
    });
    await sendRaw(port, [asked()]);
    expect(await finished).toBe(true);
  });

  it('is written all the same by a Node.js that sends in another way', async () => {
    answer = (response) => {
      // As its own, it hides the one that Node's inner steps find.
      Object.defineProperty(response, '_send', { get: hiddenOnce(response) });
      writeWhole(response, 200, headersOf('text'), 'text');
    };
    expect((await sendRaw(port, [asked()])).body).toBe('text');
  });
});

/** Nothing to the first who asks, which is the code under test. */
function hiddenOnce(response: ServerResponse): () => unknown {
  const inner: unknown = Reflect.get(Object.getPrototypeOf(response) as object, '_send');
  let asked = 0;
  return () => (asked++ === 0 ? undefined : inner);
}
