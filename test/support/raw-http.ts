import { connect } from 'node:net';

/** What came back over a raw connection. */
export interface RawAnswer {
  readonly status: number;
  readonly head: string;
  readonly body: string;
  /** Everything, of which the first answer is a part. */
  readonly all: string;
  /** Bytes of the request that the connection took before the peer closed it. */
  readonly sent: number;
}

const INTERIM = /^HTTP\/1\.1 100 Continue\r\n\r\n/;

/**
 * Sends bytes as they are and reads until one answer is whole, the server closes, falls silent for `quietMs`, or
 * `untilMs` is over.
 */
export function sendRaw(
  port: number,
  chunks: readonly (string | Buffer)[],
  { quietMs = 150, untilMs = 5000 } = {},
): Promise<RawAnswer> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    const received: Buffer[] = [];
    let quiet: NodeJS.Timeout | undefined;
    const finish = (): void => {
      clearTimeout(quiet);
      clearTimeout(limit);
      const sent = socket.bytesWritten - socket.writableLength;
      socket.destroy();
      resolve(parse(Buffer.concat(received).toString('latin1'), sent));
    };
    const limit = setTimeout(finish, untilMs);
    socket.on('data', (data) => {
      received.push(data);
      if (isComplete(Buffer.concat(received).toString('latin1'))) return finish();
      clearTimeout(quiet);
      quiet = setTimeout(finish, quietMs);
    });
    socket.on('close', finish).on('error', () => {});
    for (const chunk of chunks) socket.write(chunk);
  });
}

/** A final answer whose length is declared and has arrived. */
function isComplete(all: string): boolean {
  const final = all.replace(INTERIM, '');
  const end = final.indexOf('\r\n\r\n');
  const length = /\r\ncontent-length: (\d+)/i.exec(final.slice(0, end))?.[1];
  return end >= 0 && length !== undefined && final.length - end - 4 >= Number(length);
}

function parse(all: string, sent: number): RawAnswer {
  const final = all.replace(INTERIM, '');
  const end = final.indexOf('\r\n\r\n');
  const head = end < 0 ? final : final.slice(0, end);
  return {
    status: Number(/^HTTP\/1\.1 (\d+)/.exec(head)?.[1] ?? 0),
    head,
    body: end < 0 ? '' : final.slice(end + 4),
    all,
    sent,
  };
}

/** The text of a request; a `Host` is added. */
export function requestText(line: string, headers: Record<string, string> = {}, body = ''): string {
  const lines = Object.entries({ host: '127.0.0.1', ...headers }).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${line} HTTP/1.1\r\n${lines.join('')}\r\n${body}`;
}
