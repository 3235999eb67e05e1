import type { IncomingMessage, ServerResponse } from 'node:http';
import { HttpException, Inject, Injectable, Logger } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { CONFIG, type Config } from '../config/config.js';
import { AppError } from '../errors/app-error.js';
import { errorBody } from '../errors/error-body.js';
import { ERROR_CODES, type ErrorCode } from '../errors/error-code.js';
import { REFUSED } from '../errors/refused.js';
import { RefusalRenderer } from '../limits/refusal-renderer.js';
import { rateLimitFields } from '../limits/rate-limit-fields.js';
import { acceptedIdentity, findRequestContext, type Refusal, type RequestContext } from '../request/request-context.js';
import { writeWhole } from '../request/whole-answer.adapter.js';
import { EntryService } from './entry.service.js';
import { pathText } from './http-request-context.js';
import { NO_ROUTE } from './http-route.js';
import { ResourceMetadata } from './resource-metadata.js';
import { RouteTable } from './route-table.js';
import { closeSoftly } from './soft-close.adapter.js';
import { closesConnection } from './unread-body.js';

/** Where MCP clients without a credential try to sign in; they show what they are answered there to their user. */
const SIGN_IN_PATHS: ReadonlySet<string> = new Set(['/register', '/authorize', '/token']);
const NO_SIGN_IN =
  'Nobody signs in here: send a TiDB Cloud API key in the Authorization header, as Bearer PUBLIC:PRIVATE or as Basic.';
const NOTHING_HERE = 'There is nothing at this path. MCP is at POST /mcp, REST at /v1/, see /docs.';

/** Codes of failures that the frameworks find, by their status. */
const FRAMEWORK_CODES = new Map<number, ErrorCode>([
  [400, 'INVALID_ARGUMENT'],
  [404, 'NOT_FOUND'],
  [408, 'REQUEST_TIMEOUT'],
  [413, 'BODY_TOO_LARGE'],
  [414, 'INVALID_ARGUMENT'],
  [415, 'UNSUPPORTED_MEDIA_TYPE'],
]);

/** Renders every answer that is not a success, and sees to it that whoever gets one has paid for it. */
@Injectable()
export class AnswerService {
  readonly routes = new RouteTable();
  /** What is told to OAuth clients. */
  readonly resource: ResourceMetadata;
  private readonly refusals = new RefusalRenderer();
  private readonly logger = new Logger('Http');

  constructor(
    @Inject(CONFIG) config: Config,
    private readonly entry: EntryService,
  ) {
    this.resource = new ResourceMetadata(config);
  }

  /** Answers a failure. What no guard has charged is charged here, and may be refused instead. */
  fail(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
    const context = findRequestContext(request.raw) ?? this.entry.enter(request, reply, NO_ROUTE);
    if (error === REFUSED && context.refusal !== undefined) {
      return this.refuse(this.entry.admission.refuse(context, context.refusal), context, request, reply);
    }
    const refusal = this.entry.admission.passAll(context);
    if (refusal !== undefined) return this.refuse(refusal, context, request, reply);
    this.send(this.asAppError(error, request), context, request, reply);
  }

  /** Sends a refusal of a request that came as far as the framework. */
  refuse(refusal: Refusal, context: RequestContext, request: FastifyRequest, reply: FastifyReply): void {
    reply.hijack();
    this.writeRefusal(refusal, context, request.raw, reply.raw);
  }

  /** Writes a refusal past the framework, in one piece with its head: under a flood nearly all answers are refusals. */
  writeRefusal(refusal: Refusal, context: RequestContext, raw: IncomingMessage, response: ServerResponse): void {
    const { status, retryAfter, contentType, contentLength, body } = this.refusals.render(refusal, context);
    const closes = closesConnection(raw.headers);
    if (closes) closeSoftly(raw);
    const { answerHeaders } = context;
    answerHeaders.push('content-type', contentType, 'content-length', contentLength);
    answerHeaders.push('retry-after', retryAfter, 'cache-control', 'no-store');
    if (closes) answerHeaders.push('connection', 'close');
    // A refused tenant is told what it has left, as with every answer; a stranger has nothing of its own.
    const identity = acceptedIdentity(context);
    if (identity !== undefined) answerHeaders.push(...rateLimitFields(this.entry.allowance(identity)));
    writeWhole(response, status, answerHeaders, body);
  }

  /** Sends an expected failure in the shape of its surface. */
  send(
    error: AppError,
    shape: Pick<RequestContext, 'surface' | 'modern' | 'answerHeaders'>,
    request: FastifyRequest,
    reply: FastifyReply,
  ): void {
    if (reply.sent || reply.raw.headersSent) {
      reply.raw.destroy();
      return;
    }
    const { code, message, extras } = error;
    const { contentType, body } = errorBody(shape.surface, shape.modern, code, message, extras);
    // Who was too slow with a body is not waited for any longer.
    const isLate = code === 'REQUEST_TIMEOUT' || closesConnection(request.raw.headers);
    if (!request.raw.complete && isLate) {
      reply.header('connection', 'close');
      closeSoftly(request.raw);
    }
    if (extras.retryAfterSeconds !== undefined) reply.header('retry-after', String(extras.retryAfterSeconds));
    if (extras.allow !== undefined) reply.header('allow', extras.allow.join(', '));
    const { answerHeaders } = shape;
    for (let index = 0; index < answerHeaders.length; index += 2) {
      reply.header(answerHeaders[index]!, answerHeaders[index + 1]);
    }
    if (code === 'UNAUTHENTICATED') reply.header('www-authenticate', this.resource.challenges(shape.surface));
    reply
      .code(error.status)
      .header('content-type', contentType)
      .header('cache-control', 'no-store')
      .send(asBytes(body));
  }

  private asAppError(error: unknown, request: FastifyRequest): AppError {
    if (error instanceof AppError) return error;
    const status = error instanceof HttpException ? error.getStatus() : statusOf(error);
    const code = status === undefined ? undefined : FRAMEWORK_CODES.get(status);
    if (code === 'NOT_FOUND') return this.unmatched(request.raw);
    if (code !== undefined) return new AppError(code, `${ERROR_CODES[code].title}: this request could not be read.`);
    this.logger.error('A request failed in a way that this server did not expect.', error);
    return new AppError(
      'INTERNAL',
      'This server failed to answer the request; the fault is not yours. Try again later.',
    );
  }

  /** What a request gets that no route answers: 405 where its path has other methods, 404 otherwise. */
  unmatched({ url = '', method = '' }: IncomingMessage): AppError {
    const path = pathText(url);
    const allow = this.routes.methodsOf(path);
    if (allow.length === 0 || allow.includes(method)) {
      return new AppError('NOT_FOUND', SIGN_IN_PATHS.has(path) ? NO_SIGN_IN : NOTHING_HERE);
    }
    return new AppError('METHOD_NOT_ALLOWED', `This path takes ${allow.join(', ')} only.`, { allow });
  }
}

function statusOf(error: unknown): number | undefined {
  const status = (error as { statusCode?: unknown } | undefined)?.statusCode;
  return typeof status === 'number' ? status : undefined;
}

/** Fastify would add a charset to the type of a text, which JSON's media types do not have (RFC 8259). */
function asBytes(body: string): Buffer {
  return Buffer.from(body, 'utf8');
}
