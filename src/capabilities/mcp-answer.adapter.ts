import type { ServerResponse } from 'node:http';
import type { FastifyReply } from 'fastify';
import { AppError } from '../errors/app-error.js';

type Chunk = Awaited<ReturnType<ReadableStreamDefaultReader<Uint8Array>['read']>>;

/** Codes that the SDK uses where the protocol has none of its own: we have, so these answers are written anew. */
const REWRITTEN_CODES: ReadonlySet<unknown> = new Set([-32000, -32600, -32700]);

/**
 * An answer of the MCP SDK on its way to the caller. The SDK gives status and headers at once to older revisions, before
 * a tool has run; here they are held back until the first event or the end, so that the status can still become another.
 */
export class McpAnswer {
  private readonly reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
  private first: Chunk | undefined;

  constructor(private readonly response: Response) {
    this.reader = response.body?.getReader();
  }

  /** Waits until there is something to write. */
  async begin(): Promise<void> {
    this.first = await this.reader?.read();
  }

  /** Gives the answer up unwritten. */
  async discard(): Promise<void> {
    await this.reader?.cancel();
  }

  /**
   * Writes the answer, or gives up when the caller has gone.
   * @throws AppError INVALID_ARGUMENT or INTERNAL where the SDK refused the request in its own words; nothing is
   * written then
   */
  async write(reply: FastifyReply): Promise<void> {
    if (this.response.status >= 400) await this.refuse();
    reply.hijack();
    const { raw } = reply;
    raw.writeHead(this.response.status, this.headers(reply));
    // Held together for one turn: head and body of a short answer leave in one packet.
    raw.cork();
    setImmediate(() => raw.uncork());
    await this.writeBody(raw);
  }

  private async writeBody(raw: ServerResponse): Promise<void> {
    try {
      for (let chunk = this.first; chunk?.value !== undefined; chunk = await this.reader?.read()) {
        if (!raw.write(chunk.value)) await drained(raw);
        if (raw.destroyed) return await this.discard();
      }
      raw.end();
    } catch {
      // The head is out: only a broken connection still tells the caller that the answer is not whole.
      raw.destroy();
    }
  }

  private headers(reply: FastifyReply): Record<string, string | string[] | number | undefined> {
    const type = this.response.headers.get('content-type');
    return {
      ...reply.getHeaders(),
      ...(type === null ? {} : { 'content-type': type }),
      'cache-control': 'no-store, no-transform',
      'x-accel-buffering': 'no',
    };
  }

  /**
   * Lets errors of the protocol pass as the SDK words them, with their codes; writes the others anew, as all of ours.
   */
  private async refuse(): Promise<void> {
    const text = await this.text();
    if (this.response.status >= 500) throw new AppError('INTERNAL', 'This server failed to answer.');
    const { code, message } = readError(text);
    if (REWRITTEN_CODES.has(code)) throw new AppError('INVALID_ARGUMENT', message);
    this.first = { done: false, value: new TextEncoder().encode(text) };
  }

  private async text(): Promise<string> {
    const chunks: Uint8Array[] = [];
    for (let chunk = this.first; chunk?.value !== undefined; chunk = await this.reader?.read()) {
      chunks.push(chunk.value);
    }
    return Buffer.concat(chunks).toString('utf8');
  }
}

function readError(text: string): { code: unknown; message: string } {
  const { error } = JSON.parse(text) as { error?: { code?: unknown; message?: string } };
  return { code: error?.code, message: error?.message ?? 'The request is not a valid MCP message.' };
}

function drained(raw: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      raw.off('drain', done);
      raw.off('close', done);
      resolve();
    };
    raw.on('drain', done);
    raw.on('close', done);
    if (raw.destroyed) done();
  });
}
