import { connect } from 'node:net';
import type { RawAttack } from './raw-requests.js';

/** One answer out of those that came over a connection. */
export interface ParsedAnswer {
  readonly status: number;
  readonly head: string;
  readonly body: string;
}

/** What came of an attack. */
export interface Outcome {
  readonly answers: readonly ParsedAnswer[];
  /** Bytes behind the last whole answer. */
  readonly rest: string;
  /** Whether the connection came to its end in time. */
  readonly closed: boolean;
}

/**
 * Sends an attack, reads until the server closes or falls silent for `quietMs`, then ends its own half and waits for the
 * server to close, which it has to within `limitMs`.
 */
export function attack(port: number, { chunks, leaves }: RawAttack, quietMs = 60, limitMs = 10_000): Promise<Outcome> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true });
    const received: Buffer[] = [];
    let quiet: NodeJS.Timeout | undefined;
    const finish = (closed: boolean): void => {
      clearTimeout(quiet);
      clearTimeout(limit);
      socket.destroy();
      resolve({ ...parseAnswers(Buffer.concat(received).toString('latin1')), closed });
    };
    const limit = setTimeout(() => finish(false), limitMs);
    const expectSilence = (): void => {
      clearTimeout(quiet);
      quiet = setTimeout(() => socket.end(), quietMs);
    };
    socket.on('data', (data) => {
      received.push(data);
      expectSilence();
    });
    socket.on('close', () => finish(true)).on('error', () => undefined);
    void send(chunks).then(() => (leaves ? finish(true) : expectSilence()));

    async function send(pieces: readonly string[]): Promise<void> {
      for (const piece of pieces) {
        await new Promise((done) => socket.write(Buffer.from(piece, 'latin1'), done));
        if (pieces.length > 1) await new Promise((done) => setTimeout(done, 2));
      }
    }
  });
}

/** Divides what came into whole answers, by the lengths that they declare. */
export function parseAnswers(text: string): { answers: ParsedAnswer[]; rest: string } {
  const answers: ParsedAnswer[] = [];
  let rest = text;
  for (;;) {
    const end = rest.indexOf('\r\n\r\n');
    const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(rest)?.[1] ?? 0);
    if (end < 0 || status === 0) return { answers, rest };
    const head = rest.slice(0, end);
    const length = bodyLength(head, rest.slice(end + 4), status);
    if (length === undefined || rest.length < end + 4 + length) return { answers, rest };
    if (status >= 200) answers.push({ status, head, body: rest.slice(end + 4, end + 4 + length) });
    rest = rest.slice(end + 4 + length);
  }
}

function bodyLength(head: string, after: string, status: number): number | undefined {
  // An answer to HEAD declares a length and has no body.
  if (status < 200 || status === 204 || status === 304 || after === '' || after.startsWith('HTTP/1.1 ')) return 0;
  const declared = /\r\ncontent-length: (\d+)/i.exec(head)?.[1];
  if (declared !== undefined) return Number(declared);
  if (!/\r\ntransfer-encoding: chunked/i.test(head)) return after.length;
  const last = after.startsWith('0\r\n\r\n') ? 0 : after.indexOf('\r\n0\r\n\r\n') + 2;
  return last === 1 ? undefined : last + 5;
}
