// Loaded into a server under measurement before its own code (`node --import`): answers the bench's questions about the
// process. Nothing here runs unless it is asked, but for the count of read bytes, which sections turn on.
import { subscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';

/** What the bench may ask. */
export type Question = 'usage' | 'memory' | 'read-bytes';

/** What a process says of itself; CPU in microseconds, memory in bytes. */
export interface Usage {
  readonly cpuMicros: number;
  readonly rss: number;
  readonly heapUsed: number;
  readonly arrayBuffers: number;
  /** Bytes read from connections that were accepted since the last time this was asked. */
  readonly readBytes: number;
}

const sockets = new Set<Socket>();
subscribe('net.server.socket', (message) => {
  if (process.env['BENCH_READ_BYTES'] !== undefined) sockets.add((message as { socket: Socket }).socket);
});

function readBytes(): number {
  let bytes = 0;
  for (const socket of sockets) bytes += socket.bytesRead;
  sockets.clear();
  return bytes;
}

process.on('message', (question: Question) => {
  if (question === 'memory') (globalThis as { gc?: () => void }).gc?.();
  const { user, system } = process.cpuUsage();
  const { rss, heapUsed, arrayBuffers } = process.memoryUsage();
  const bytes = question === 'read-bytes' ? readBytes() : 0;
  process.send?.({ cpuMicros: user + system, rss, heapUsed, arrayBuffers, readBytes: bytes } satisfies Usage);
});
process.channel?.unref();
