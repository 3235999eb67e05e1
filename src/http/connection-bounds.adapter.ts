import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { Logger } from '@nestjs/common';

/** What clients may hold open beyond Node's own times, which end with the request. */
export interface ConnectionBounds {
  /** Open connections at once; one more is closed as soon as it is accepted. */
  readonly maxConnections: number;
  /**
   * A client that was sent something has this long to take some of it, and until it is noticed at the most twice this
   * long. Another time than the keep-alive's.
   */
  readonly stalledReaderMs: number;
}

/** The product's own; `docs/operating.md` states them. */
export const CONNECTION_BOUNDS: ConnectionBounds = { maxConnections: 20_000, stalledReaderMs: 15_000 };

/** Being at the ceiling is told once in this time. */
const REPORT_EVERY_MS = 60_000;

/**
 * Bounds the number of connections, and how long an answer waits for a client that doesn't take it. A call that waits
 * for its answer is left alone.
 */
export function boundConnections(server: Server, bounds: ConnectionBounds = CONNECTION_BOUNDS): Server {
  const { maxConnections, stalledReaderMs } = bounds;
  let reportedMs = Number.NEGATIVE_INFINITY;
  server.maxConnections = maxConnections;
  server.on('drop', () => {
    if (performance.now() - reportedMs < REPORT_EVERY_MS) return;
    reportedMs = performance.now();
    new Logger('Http').warn(`All ${maxConnections} connections are taken; further ones are closed at once.`);
  });
  return server.setTimeout(stalledReaderMs, (socket) => onSilence(socket, stalledReaderMs));
}

/** Between requests a silent socket runs under the keep-alive's time, by which the two are told apart. */
function onSilence(socket: Socket, stalledReaderMs: number): void {
  const awaitsItsAnswer = socket.timeout === stalledReaderMs && socket.writableLength === 0;
  if (awaitsItsAnswer) socket.setTimeout(stalledReaderMs);
  else socket.destroy();
}
