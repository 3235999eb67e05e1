import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { Logger } from '@nestjs/common';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { boundConnections, closeUnused } from './connection-bounds.adapter.js';

const STALLED_READER_MS = 300;

let server: Server;
const sockets: Socket[] = [];

async function start(maxConnections: number, listener: Parameters<typeof createServer>[1]): Promise<void> {
  server = boundConnections(createServer({ keepAliveTimeout: 75_000 }, listener), {
    maxConnections,
    stalledReaderMs: STALLED_READER_MS,
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
}

function open(text = ''): Socket {
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  socket.on('error', () => undefined).write(text);
  sockets.push(socket);
  return socket;
}

const closed = (socket: Socket) =>
  new Promise<number>((resolve) => socket.on('close', () => resolve(performance.now())));
const GET = 'GET / HTTP/1.1\r\nhost: x\r\n\r\n';

afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  vi.restoreAllMocks();
});

describe('A connection', () => {
  it('whose client does not take what it asked for is closed', async () => {
    await start(10, (_request, response) => void response.end(Buffer.alloc(32 * 1024 * 1024)));
    const gone = new Promise<boolean>((resolve) =>
      server.on('connection', (socket) => socket.on('close', () => resolve(true))),
    );
    open(GET).pause();
    expect(await gone).toBe(true);
  });

  it('whose client takes its answer slowly is left alone', async () => {
    const size = 24 * 1024 * 1024;
    await start(10, (_request, response) => void response.end(Buffer.alloc(size)));
    const socket = open(GET);
    let taken = 0;
    socket.on('data', (data: Buffer) => {
      taken += data.length;
      // Longer in all than a stalled one would have, and never still for as long.
      const crossesMegabyte = Math.floor(taken / 1_048_576) > Math.floor((taken - data.length) / 1_048_576);
      if (crossesMegabyte) {
        socket.pause();
        setTimeout(() => socket.resume(), STALLED_READER_MS / 6);
      }
      if (taken >= size) socket.end();
    });
    await closed(socket);
    expect(taken).toBeGreaterThan(size);
  });

  it('that waits for its answer, or for its next request, is left alone', async () => {
    const waitMs = STALLED_READER_MS * 2.5;
    await start(10, (_request, response) => void setTimeout(() => response.end('late'), waitMs));
    const socket = open(GET);
    const answer = await new Promise<string>((resolve) => socket.once('data', (data) => resolve(String(data))));
    expect(answer).toMatch(/^HTTP\/1\.1 200 /);
    await new Promise((resolve) => setTimeout(resolve, waitMs));
    expect(socket.destroyed).toBe(false);
  });

  it.each(['GET / HTT', '\r\n', `${GET}GET /half`])(
    'in the middle of a head is closed after some looks of a server that stops: %j',
    async (text) => {
      await start(10, (_request, response) => void response.end('ok'));
      const arrived = new Promise<Socket>((resolve) =>
        server.once('connection', (socket: Socket) => socket.once('data', () => resolve(socket))),
      );
      open(text);
      const socket = await arrived;
      await vi.waitUntil(() => (socket as { _httpMessage?: unknown })._httpMessage == null);
      for (let look = 1; look < 6; look += 1) closeUnused(server);
      expect(socket.destroyed).toBe(false);
      closeUnused(server);
      expect(socket.destroyed).toBe(true);
    },
  );

  it('whose request is answered later is left alone by a server that stops, however long it looks', async () => {
    let answer: (() => void) | undefined;
    await start(10, (_request, response) => {
      answer = () => void response.end('late');
    });
    const socket = open(`${GET}GET /half`);
    await vi.waitUntil(() => answer !== undefined);
    for (let look = 1; look < 20; look += 1) closeUnused(server);
    answer?.();
    expect(await new Promise((resolve) => socket.once('data', (data) => resolve(String(data))))).toContain('late');
  });

  it('on which nothing was ever sent is closed when the server stops, and one that was asked is not', async () => {
    await start(10, (_request, response) => void response.end('ok'));
    const accepted = new Promise((resolve) => server.once('connection', resolve));
    const unused = open();
    await accepted;
    const asked = open(GET);
    await new Promise((resolve) => asked.once('data', resolve));
    const gone = closed(unused);
    closeUnused(server);
    await gone;
    expect(asked.destroyed).toBe(false);
  });

  it('beyond the ceiling is closed at once, and the operator is told once', async () => {
    const warn = vi.spyOn(Logger.prototype, 'warn').mockImplementation(() => undefined);
    await start(3, (_request, response) => void response.end('ok'));
    const first = [open(GET), open(GET), open(GET)];
    await Promise.all(first.map((socket) => new Promise((resolve) => socket.once('data', resolve))));
    await Promise.all([closed(open()), closed(open()), closed(open())]);
    expect(warn).toHaveBeenCalledTimes(1);
    expect(first.every((socket) => !socket.destroyed)).toBe(true);
  });
});
