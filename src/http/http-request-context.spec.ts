import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ClientAddress } from '../request/request-context.js';
import { HttpRequestContext } from './http-request-context.js';

const CLIENT: ClientAddress = {
  address: '192.0.2.1',
  key: '192.0.2.1',
  network: '192.0.2.0/24',
  source: 'socket',
  gateway: undefined,
};
const GET = 'GET / HTTP/1.1\r\nHost: here\r\n\r\n';
const MANY = 12;

interface Exchange {
  readonly raw: IncomingMessage;
  readonly response: ServerResponse;
}

let exchanges: Exchange[];
let caller: Socket;
const server = createServer((raw, response) => void exchanges.push({ raw, response }));

beforeEach(async () => {
  exchanges = [];
  await once(server.listen(0, '127.0.0.1'), 'listening');
  caller = connect((server.address() as AddressInfo).port, '127.0.0.1')
    .on('error', () => undefined)
    .resume();
});
afterEach(async () => {
  caller.destroy();
  await once(server.close(), 'close');
});

async function send(times: number): Promise<void> {
  const before = exchanges.length;
  caller.write(GET.repeat(times));
  await expect.poll(() => exchanges.length).toBe(before + times);
}

const signalOf = ({ raw, response }: Exchange): AbortSignal =>
  new HttpRequestContext('v1', CLIENT, undefined, raw, response).signal;

describe('A caller who goes away', () => {
  it('ends all calls that wait on its connection, also those whose answers wait for their turn', async () => {
    await send(3);
    const signals = exchanges.map(signalOf);
    caller.destroy();
    await expect.poll(() => signals.map(({ aborted }) => aborted)).toEqual([true, true, true]);
  });

  it('ends a call whose signal is first asked for when it has gone', async () => {
    await send(2);
    const [first] = exchanges;
    caller.destroy();
    await once(first!.raw.socket, 'close');
    expect(exchanges.map(signalOf).map(({ aborted }) => aborted)).toEqual([true, true]);
  });
});

describe('A connection that stays', () => {
  it('ends no call that was answered, and keeps nothing of it', async () => {
    await send(MANY);
    const warnings: Error[] = [];
    const note = (warning: Error): void => void warnings.push(warning);
    process.on('warning', note);
    const signals = exchanges.map(signalOf);
    const { socket } = exchanges[0]!.raw;
    const closed = exchanges.map(({ response }) => once(response, 'close'));
    const listeners = socket.listenerCount('close');
    for (const { response } of exchanges) response.end();
    await Promise.all(closed);
    process.off('warning', note);
    expect(listeners - socket.listenerCount('close')).toBe(MANY);
    caller.end();
    await once(socket, 'close');
    expect(signals.filter(({ aborted }) => aborted)).toEqual([]);
    expect(warnings).toEqual([]);
  });
});
