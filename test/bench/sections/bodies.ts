import { connect } from 'node:net';
import { requestText } from '../load-client.js';
import type { Server } from '../processes.js';
import { startProduct } from '../product.js';
import type { Row, Section } from '../report.js';

const MEGABYTES_10 = 10 * 1024 * 1024;
const WAIT_MS = 1000;
const CHUNK = Buffer.alloc(65_536, 'x');

/** Target 6: how much of a refused request's body the server reads. */
export async function bodies(): Promise<Section> {
  const product = await startProduct({ BENCH_READ_BYTES: '1' });
  await exhaust(product);
  const json = { 'content-type': 'application/json' };
  const declared = requestText('POST /mcp', { ...json, 'content-length': String(MEGABYTES_10) });
  const chunked = requestText('POST /mcp', { ...json, 'transfer-encoding': 'chunked' });
  const expecting = requestText('POST /mcp', {
    ...json,
    'content-length': String(MEGABYTES_10),
    expect: '100-continue',
  });
  const rows: Row[] = [
    await row('10 MB with a declared length, refused', product, declared, 128 * 1024, () => CHUNK),
    await row('10 MB chunked, refused', product, chunked, 128 * 1024, () =>
      Buffer.concat([Buffer.from(`${CHUNK.length.toString(16)}\r\n`), CHUNK, Buffer.from('\r\n')]),
    ),
    await row('10 MB behind Expect: 100-continue, refused', product, expecting, 0),
  ];
  return { name: 'bodies', title: '6. Refused bodies', rows };
}

async function exhaust({ port }: Server): Promise<void> {
  for (let n = 0; n < 6; n += 1) await (await fetch(`http://127.0.0.1:${port}/v1/clusters`)).text();
}

async function row(what: string, product: Server, head: string, most: number, chunk?: () => Buffer): Promise<Row> {
  await product.child.usage('read-bytes');
  const { status, sent } = await send(product.port, head, chunk);
  await new Promise((resolve) => setTimeout(resolve, 300));
  const { readBytes } = await product.child.usage('read-bytes');
  const values = {
    status,
    'bytes of the body sent': sent,
    'bytes of the body read': Math.max(0, readBytes - head.length),
  };
  return { what, values, target: { column: 'bytes of the body read', most } };
}

/** Sends the body as fast as it is taken, to the end or until the connection is closed. */
function send(port: number, head: string, chunk?: () => Buffer): Promise<{ status: string; sent: number }> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    let text = '';
    let sent = 0;
    const goOn = (): void => {
      if (chunk === undefined) return;
      while (sent < MEGABYTES_10 && !socket.destroyed) {
        const bytes = chunk();
        sent += bytes.length;
        if (!socket.write(bytes)) return;
      }
    };
    socket.on('drain', goOn).on('error', () => {});
    socket.on('data', (data) => (text += data.toString('latin1')));
    socket.on('close', () => resolve({ status: text.slice(9, 12), sent }));
    setTimeout(() => socket.destroy(), WAIT_MS);
    // Head and body in one go, or the refusal would be out before there is a body to read.
    socket.cork();
    socket.write(head);
    goOn();
    socket.uncork();
  });
}
