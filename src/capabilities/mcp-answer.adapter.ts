import type { FastifyReply } from 'fastify';
import { AppError } from '../errors/app-error.js';
import { requestContext } from '../request/request-context.js';

/** Codes that the SDK uses where the protocol has none of its own: we have, so these answers are written anew. */
const REWRITTEN_CODES: ReadonlySet<unknown> = new Set([-32000, -32600, -32700]);

/**
 * An answer of the MCP SDK on its way to the caller, read to its end: nothing here is told piece by piece, and until the
 * end the status can still become another.
 */
export class McpAnswer {
  private constructor(
    private readonly response: Response,
    private readonly body: Buffer,
  ) {}

  /** Waits for the whole answer. */
  static async of(response: Response): Promise<McpAnswer> {
    const chunks: Uint8Array[] = [];
    // Chunk by chunk costs half of what `response.bytes()` and its like do.
    const reader = response.body?.getReader();
    for (let next = await reader?.read(); next?.value !== undefined; next = await reader?.read()) {
      chunks.push(next.value);
    }
    return new McpAnswer(response, Buffer.concat(chunks));
  }

  /**
   * Writes the answer.
   * @throws AppError INVALID_ARGUMENT or INTERNAL where the SDK refused the request in its own words; nothing is
   * written then
   */
  write(reply: FastifyReply): void {
    if (this.response.status >= 400) this.throwOurs();
    const type = this.response.headers.get('content-type');
    const { answerHeaders } = requestContext(reply.request.raw);
    if (type !== null) answerHeaders.push('content-type', type);
    answerHeaders.push('content-length', String(this.body.length));
    answerHeaders.push('cache-control', 'no-store, no-transform', 'x-accel-buffering', 'no');
    reply.hijack();
    reply.raw.writeHead(this.response.status, answerHeaders);
    reply.raw.end(this.body);
  }

  /** Errors of the protocol pass as the SDK words them, with their codes; the others are written as all of ours. */
  private throwOurs(): void {
    if (this.response.status >= 500) throw new AppError('INTERNAL', 'This server failed to answer.');
    const { error } = JSON.parse(this.body.toString()) as { error?: { code?: unknown; message?: string } };
    if (!REWRITTEN_CODES.has(error?.code)) return;
    throw new AppError('INVALID_ARGUMENT', error?.message ?? 'The request is not a valid MCP message.');
  }
}
