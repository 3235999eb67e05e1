// Tenants that call at a steady pace, each on a connection of its own, and how long each of their calls took.
import { connect, type Socket } from 'node:net';

/** What they are told to do. */
export interface PaceOrder {
  readonly port: number;
  /** One request for each tenant. */
  readonly requests: readonly string[];
  readonly callsPerSecond: number;
  readonly seconds: number;
}

/** What came of it. */
export interface PaceResult {
  readonly milliseconds: readonly number[];
  readonly refused: number;
}

async function run({ port, requests, callsPerSecond, seconds }: PaceOrder): Promise<PaceResult> {
  const milliseconds: number[] = [];
  let refused = 0;
  const call = (socket: Socket, request: string): Promise<void> =>
    new Promise((resolve) => {
      const startedMs = performance.now();
      socket.once('data', (chunk) => {
        milliseconds.push(performance.now() - startedMs);
        if (chunk.toString('latin1', 9, 12) !== '200') refused += 1;
        resolve();
      });
      socket.write(request, 'latin1');
    });
  const between = 1000 / callsPerSecond;
  await Promise.all(
    requests.map(async (request, n) => {
      const socket = connect(port, '127.0.0.1').setNoDelay(true);
      const beginMs = performance.now() + (between * n) / requests.length;
      for (let turn = 0; turn < callsPerSecond * seconds; turn += 1) {
        const waitMs = beginMs + turn * between - performance.now();
        if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
        await call(socket, request);
      }
      socket.destroy();
    }),
  );
  return { milliseconds, refused };
}

process.on('message', (order: PaceOrder) => {
  void run(order).then((result) => process.send?.(result));
});
