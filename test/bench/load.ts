// The load generator, a process of its own: raw sockets that stay open from one order to the next, one request at a
// time on each, so that what it costs is small beside what it measures and opening connections is in nobody's numbers.
import { connect, type Socket } from 'node:net';

/** What the generator is told to do. */
export interface LoadOrder {
  readonly port: number;
  /** The request's bytes; `{n}` becomes a number and `{ip}` an address that no other request has. */
  readonly request: string;
  readonly connections: number;
  /** How many requests, unless `forMs` is over before. */
  readonly count: number;
  readonly forMs?: number;
  /** Where the numbers of `{n}` and `{ip}` begin. */
  readonly from?: number;
}

/** What came of it. */
export interface LoadResult {
  readonly answers: number;
  /** How many answers had each status. */
  readonly statuses: Readonly<Record<string, number>>;
  readonly seconds: number;
}

/** Ends a body whose length is not told beforehand. */
const LAST_CHUNK = '\r\n0\r\n\r\n';

/** Whether the text holds a whole answer. */
function isWhole(text: string): boolean {
  const end = text.indexOf('\r\n\r\n');
  if (end < 0) return false;
  const at = text.slice(0, end).search(/\r\ncontent-length: /i);
  if (at < 0) return text.endsWith(LAST_CHUNK);
  return text.length >= end + 4 + Number.parseInt(text.slice(at + 18, at + 28), 10);
}

function addressOf(n: number): string {
  return `${10 + ((n >> 24) & 15)}.${(n >> 16) & 255}.${(n >> 8) & 255}.${n & 255}`;
}

/** Makes the bytes of the next request. */
function writer(template: string, from: number): () => string {
  if (!/\{(?:n|ip)\}/.test(template)) return () => template;
  const parts = template.split(/(\{n\}|\{ip\})/);
  let n = from;
  return () => {
    n += 1;
    let text = '';
    for (const part of parts) text += part === '{n}' ? String(n) : part === '{ip}' ? addressOf(n) : part;
    return text;
  };
}

/** One connection; `answered` is told the status of each answer. */
class Line {
  answered: (status: string) => void = () => {};
  /** A server may close a connection on which it was asked nothing for a while. */
  isOpen = true;
  private text = '';
  private waits = false;

  constructor(private readonly socket: Socket) {
    socket.setNoDelay(true);
    socket.on('error', fail).on('end', () => {
      this.isOpen = false;
      if (this.waits) fail(new Error('The server closed a connection without an answer.'));
    });
    socket.on('data', (chunk) => {
      const text = this.text + chunk.toString('latin1');
      this.text = isWhole(text) ? '' : text;
      if (this.text !== '') return;
      this.waits = false;
      this.answered(text.slice(9, 12));
    });
  }

  send(request: string): void {
    this.waits = true;
    this.socket.write(request, 'latin1');
  }
}

const lines = new Map<number, Line[]>();

/** Open connections to a port, as many as are wanted. */
async function linesTo(port: number, count: number): Promise<Line[]> {
  const open = (lines.get(port) ?? []).filter(({ isOpen }) => isOpen);
  lines.set(port, open);
  while (open.length < count) open.push(await openLine(port));
  return open.slice(0, count);
}

function openLine(port: number): Promise<Line> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => resolve(new Line(socket))).once('error', reject);
  });
}

async function run(order: LoadOrder): Promise<LoadResult> {
  const { port, count, forMs = Number.POSITIVE_INFINITY } = order;
  const next = writer(order.request, order.from ?? 0);
  const statuses: Record<string, number> = {};
  const open = await linesTo(port, Math.min(order.connections, count));
  const startedMs = performance.now();
  let left = count;
  let answers = 0;
  let busy = open.length;
  // Never asleep: waking this process up would be the server's work, and a peer across a network needs none.
  const stayAwake = (): void => {
    if (busy > 0) setImmediate(stayAwake);
  };
  stayAwake();
  await new Promise<void>((resolve) => {
    const send = (line: Line): void => {
      if (left === 0 || performance.now() - startedMs >= forMs) {
        busy -= 1;
        if (busy === 0) resolve();
        return;
      }
      left -= 1;
      line.send(next());
    };
    for (const line of open) {
      line.answered = (status) => {
        statuses[status] = (statuses[status] ?? 0) + 1;
        answers += 1;
        send(line);
      };
      send(line);
    }
  });
  return { answers, statuses, seconds: (performance.now() - startedMs) / 1000 };
}

function fail(error: unknown): void {
  process.stderr.write(`${String(error)}\n`);
  process.exit(1);
}

process.on('message', (order: LoadOrder) => {
  run(order).then((result) => process.send?.(result), fail);
});
