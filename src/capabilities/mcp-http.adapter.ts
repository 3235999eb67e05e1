import { Inject, Injectable } from '@nestjs/common';
import {
  createMcpHandler,
  isLegacyRequest,
  type Server,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { CONFIG, type Config } from '../config/config.js';
import { AppError } from '../errors/app-error.js';
import { QuotaService } from '../quota/quota.service.js';
import { callerOf } from './caller-of.js';
import { McpAnswer } from './mcp-answer.adapter.js';
import { httpInstructions } from './mcp-instructions.js';
import { runTool } from './mcp-call.js';
import { withQuotaNotice } from './mcp-quota-notice.js';
import { type CallTool, createMcpServer, type McpServerParts } from './mcp-server.js';
import { withoutSubscriptions, withoutSubscriptionsHeader } from './mcp-subscriptions.js';
import { OperationRunner } from './operation-runner.service.js';
import type { Caller } from './operation.js';

/**
 * One `POST /mcp`: who calls, and the one failure that must become an HTTP status. To the SDK it is the web request, of
 * which it reads no more than this where the parsed body is handed to it; a whole `Request` brings an abort signal and a
 * URL, and costs several times as much.
 */
class Exchange implements Pick<Request, 'method' | 'headers'> {
  readonly method = 'POST';
  /** TiDB Cloud rejected the credential in a tool: the client has to sign in again, which a tool error does not say. */
  rejection: AppError | undefined = undefined;

  constructor(
    readonly headers: Headers,
    readonly caller: Caller,
  ) {}

  get webRequest(): Request {
    return this as unknown as Request;
  }
}

/** The headers that the SDK reads; no other one, and so no credential, reaches it. */
const PASSED_HEADERS = ['mcp-protocol-version', 'mcp-name', 'mcp-session-id', 'last-event-id'] as const;

/** What the SDK demands that clients of older revisions take; they get the first, so whoever takes that may. */
const BOTH_KINDS = 'application/json, text/event-stream';
const TAKES_JSON = /\*\/\*|application\/json/i;

/**
 * Between Fastify and the MCP SDK. The SDK speaks the protocol of every revision over web requests; this adapter hands
 * it what was admitted and read, and writes no header before there is something to say.
 */
@Injectable()
export class McpHttpAdapter {
  /** Serves the newer revisions; keep-alive comments would be the first bytes of an answer whose status is open. */
  private readonly newer = createMcpHandler(({ requestInfo }) => this.serverOf(exchangeOf(requestInfo)), {
    legacy: 'reject',
    keepAliveMs: 0,
  });
  private readonly says: Pick<McpServerParts, 'instructions' | 'readOnly'>;

  constructor(
    @Inject(OperationRunner) private readonly runner: OperationRunner,
    @Inject(CONFIG) { readOnly }: Pick<Config, 'readOnly'>,
    @Inject(QuotaService) private readonly quota: Pick<QuotaService, 'status'>,
  ) {
    this.says = { instructions: httpInstructions(readOnly), readOnly };
  }

  /**
   * Serves one admitted and authenticated request whose body is read.
   * @throws AppError for every answer that is an error of HTTP; nothing is written then
   */
  async serve(request: FastifyRequest, reply: FastifyReply, body: unknown): Promise<void> {
    const message = withoutSubscriptions(readMessage(body));
    const exchange = new Exchange(passedHeaders(request), callerOf(request.raw));
    const answer = await McpAnswer.of(await this.answer(exchange, message));
    if (exchange.rejection !== undefined) throw exchange.rejection;
    answer.write(reply);
  }

  private async answer(exchange: Exchange, parsedBody: unknown): Promise<Response> {
    const { webRequest } = exchange;
    if (await isLegacyRequest(webRequest, parsedBody)) return this.serveOlder(exchange, parsedBody);
    return this.newer.fetch(webRequest, { parsedBody });
  }

  /**
   * One exchange of an older revision, answered in JSON where the SDK's own fallback frames a stream of events, which
   * nothing here needs and which costs more than the rest. Once it is answered nothing is open that a close would end.
   * Decision 0024.
   */
  private async serveOlder(exchange: Exchange, parsedBody: unknown): Promise<Response> {
    const server = this.serverOf(exchange);
    const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
    await server.connect(transport);
    return transport.handleRequest(exchange.webRequest, { parsedBody });
  }

  private serverOf(exchange: Exchange): Server {
    return createMcpServer({ ...this.says, callTool: this.callTool(exchange) });
  }

  private callTool(exchange: Exchange): CallTool {
    const run = runTool(this.runner, () => exchange.caller);
    return async (operation, args, context) => {
      const { result, error } = await run(operation, args, context);
      if (error?.code === 'UNAUTHENTICATED') exchange.rejection = error;
      return withQuotaNotice(result, this.quota.status(exchange.caller.tenant.identity.tenant));
    };
  }
}

function exchangeOf(webRequest: Request | undefined): Exchange {
  if (webRequest instanceof Exchange) return webRequest;
  throw new Error('The MCP SDK served a request that was not handed to it.');
}

function readMessage(body: unknown): unknown {
  if (Array.isArray(body)) {
    throw new AppError(
      'INVALID_ARGUMENT',
      'This server takes one request, one call: JSON-RPC batches are not served. Send each message by itself.',
    );
  }
  if (typeof body !== 'object' || body === null) {
    throw new AppError('INVALID_ARGUMENT', 'The body must be one JSON-RPC message: a JSON object.');
  }
  return body;
}

function passedHeaders({ headers }: FastifyRequest): Headers {
  // The body pipe has checked the content type.
  const { accept } = headers;
  const passed: [string, string][] = [
    ['content-type', 'application/json'],
    ['accept', accept === undefined || TAKES_JSON.test(accept) ? BOTH_KINDS : accept],
  ];
  for (const name of PASSED_HEADERS) {
    const value = headers[name];
    if (typeof value === 'string') passed.push([name, value]);
  }
  const method = headers['mcp-method'];
  if (typeof method === 'string') passed.push(['mcp-method', withoutSubscriptionsHeader(method)]);
  return new Headers(passed);
}
