import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { Logger } from '@nestjs/common';

/** What clients may hold open beyond Node's own times, which end with the request. */
export interface ConnectionBounds {
  /** Open connections at once; one more is closed as soon as it is accepted. */
  readonly maxConnections: number;
  /**
   * A client that was sent something has this long to take some of it, and until it is noticed at the most twice this
   * long.
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
  const open = new Set<Socket>();
  openConnections.set(server, open);
  server.on('connection', (socket: Socket) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
  });
  endStalledReaders(server, open, stalledReaderMs);
  return server;
}

const openConnections = new WeakMap<Server, ReadonlySet<Socket>>();

/** For so many looks at it a connection may bring the rest of a head, or take the answer to a body that is not read. */
const UNUSED_LOOKS = 6;

const unusedLooks = new WeakMap<Socket, number>();

/**
 * Closes connections that a server which stops has nothing to answer on, though Node counts them as busy: those on
 * which nothing was ever sent, as load balancers and browsers open them in advance, at once, and those that have stood
 * in the middle of a head for some looks. It is called a few times a second as long as the server stops.
 */
export function closeUnused(server: Server): void {
  for (const socket of openConnections.get(server) ?? []) {
    const looks = isAnswering(socket) ? 0 : (unusedLooks.get(socket) ?? 0) + 1;
    unusedLooks.set(socket, looks);
    if (socket.bytesRead === 0 || looks === UNUSED_LOOKS) socket.destroy();
  }
}

/** Whether a request on this connection waits for its answer or its answer for the connection. */
function isAnswering(socket: Socket): boolean {
  return (socket as { _httpMessage?: unknown })._httpMessage != null;
}

/** What libuv has been given to send, and what of it the system has not taken; Node passes on neither. */
interface StreamHandle {
  readonly bytesWritten: number;
  readonly writeQueueSize: number;
}

/**
 * Closes connections whose client took nothing of what waits for it from one look to the next. All are looked at
 * together: a time-out of each socket's own would be set anew with every request.
 */
function endStalledReaders(server: Server, open: ReadonlySet<Socket>, everyMs: number): void {
  let waiting = new Map<Socket, number>();
  const timer = setInterval(() => {
    const stillWaiting = new Map<Socket, number>();
    for (const socket of open) {
      const { _handle: handle } = socket as unknown as { _handle?: StreamHandle | null };
      if (handle == null || handle.writeQueueSize === 0) continue;
      const taken = handle.bytesWritten - handle.writeQueueSize;
      if (waiting.get(socket) === taken) socket.destroy();
      else stillWaiting.set(socket, taken);
    }
    waiting = stillWaiting;
  }, everyMs).unref();
  server.once('close', () => clearInterval(timer));
}
