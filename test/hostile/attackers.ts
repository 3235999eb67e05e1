import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { Random } from './random.js';
import { attack } from './raw-connection.js';
import { rawAttack } from './raw-requests.js';
import { rpcCall } from './rpc-messages.js';

/** Whom a siege is laid to, and until when. */
export interface Target {
  readonly url: string;
  readonly port: number;
  readonly seed: number;
  /** A credential that TiDB Cloud accepts, of a tenant that attacks. */
  readonly credential: string;
  readonly signal: AbortSignal;
  /** Told of every answer, as its status. */
  readonly answered: (status: number) => void;
}

/** Odd bytes, some connections at once. */
export async function oddBytes({ port, seed, credential, signal, answered }: Target): Promise<void> {
  for (let i = 0; !signal.aborted; i += 8) {
    const batch = Array.from({ length: 8 }, (_, n) => attack(port, rawAttack(new Random(seed + i + n), credential)));
    for (const { answers } of await Promise.all(batch)) for (const { status } of answers) answered(status);
  }
}

/** Odd messages of a tenant that is proven and floods. */
export async function oddMessages({ url, seed, credential, signal, answered }: Target): Promise<void> {
  for (let i = 0; !signal.aborted; i += 1) {
    const { headers, body } = rpcCall(new Random(seed * 31 + i));
    const authorization = `Bearer ${credential}`;
    const init = { method: 'POST', headers: { ...headers, authorization }, body };
    answered(await statusOf(`${url}/mcp`, init));
    await pause(10);
  }
}

/** A new address and a new fake key with each request, pipelined over a few connections. */
export async function addresses({ port, seed, signal, answered }: Target): Promise<void> {
  const random = new Random(seed + 1);
  const lines = Array.from({ length: 50 });
  while (!signal.aborted) {
    const text = lines
      .map(() => {
        const address = `${1 + random.below(200)}.${random.below(256)}.${random.below(256)}.${random.below(256)}`;
        const fake = `fake${random.below(1e9)}:x`;
        return `GET /v1/clusters HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Forwarded-For: ${address}\r\nAuthorization: Bearer ${fake}\r\n\r\n`;
      })
      .join('');
    const { answers } = await attack(port, { chunks: [text], leaves: false, targets: [] }, 200);
    for (const { status } of answers) answered(status);
  }
}

/** Guesses at the admin token, and looks at everything that is free. */
export async function freeRides({ url, seed, signal, answered }: Target): Promise<void> {
  const random = new Random(seed + 2);
  const paths = [
    '/metrics',
    '/health/ready',
    '/health/live',
    '/openapi.json',
    '/docs',
    '/docs/%00',
    '/docs/../x',
    '/console',
  ];
  while (!signal.aborted) {
    const headers = { authorization: `Bearer guess-${random.below(1e9)}-of-a-token` };
    for (const path of paths) answered(await statusOf(url + path, { headers }));
    await pause(20);
  }
}

/** Connections that are only held: silent, with half a head, with half a body, or not reading what they asked for. */
export async function heldSockets({ port, signal }: Target, count: number): Promise<number> {
  const texts = [
    '',
    'GET /v1/clusters HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ',
    'POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{',
    'GET /docs/swagger-ui-bundle.js HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n',
  ];
  const held = new Set<Socket>();
  let most = 0;
  while (!signal.aborted) {
    for (let i = 0; i < 200 && held.size < count; i += 1) held.add(hold(port, texts[i % texts.length]!, held));
    await pause(50);
    most = Math.max(most, [...held].filter((socket) => socket.readyState === 'open').length);
  }
  for (const socket of held) socket.destroy();
  return most;
}

function hold(port: number, text: string, held: Set<Socket>): Socket {
  const socket = connect(port, '127.0.0.1');
  socket.pause();
  socket.on('error', () => undefined).on('close', () => held.delete(socket));
  socket.on('connect', () => socket.write(text));
  return socket;
}

/** No answer of the product takes longer. */
const LONGEST_WAIT_MS = 10_000;

/** The status of an answer, or 0 where there was none in time. */
export async function statusOf(url: string, init: RequestInit): Promise<number> {
  try {
    const response = await fetch(url, { ...init, signal: AbortSignal.timeout(LONGEST_WAIT_MS) });
    await response.arrayBuffer();
    return response.status;
  } catch {
    return 0;
  }
}
