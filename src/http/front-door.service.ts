import type { IncomingMessage, ServerResponse } from 'node:http';
import { Inject, Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { CONFIG, type Config } from '../config/config.js';
import { AppError } from '../errors/app-error.js';
import { isModernRevision } from '../errors/error-body.js';
import { findRequestContext } from '../request/request-context.js';
import { AnswerService } from './answer.service.js';
import { EntryService } from './entry.service.js';
import { hostOf, pathText, surfaceOf } from './http-request-context.js';
import { type HttpRoute, NO_ROUTE } from './http-route.js';
import { OriginHostCheck } from './origin-host.js';
import { ANSWER_HEADER_LIST, ANSWER_HEADERS, isDocsFile } from './pages.js';
import { RESOURCE_METADATA_PATH } from './resource-metadata.js';

const EXPOSED = 'Retry-After, RateLimit, RateLimit-Policy, WWW-Authenticate, Allow';
const METADATA_CACHING = 'public, max-age=3600';
const PREFLIGHT_SECONDS = '600';
/** Header names that a page asks leave for; `Authorization` must be named, a wildcard does not cover it. */
const HEADER_LIST = /^[A-Za-z0-9!#$%&'*+.^_`|~-]+(?:[ \t]*,[ \t]*[A-Za-z0-9!#$%&'*+.^_`|~-]+)*$/;
/** RFC 9110: `type/subtype`, parameters aside. */
const MEDIA_TYPE = /^[\w!#$%&'*+.^`|~-]+\/[\w!#$%&'*+.^`|~-]+[ \t]*(?:;|$)/;
const EXPECTATION_FAILED = Symbol('expectation failed');

/**
 * The first to see a request: what is free and constant (step 0), then the context, then the look-ahead that refuses a
 * flood before the framework has spent anything on it. Contract: "Admission, in order".
 */
@Injectable()
export class FrontDoorService {
  private readonly check: OriginHostCheck;
  private closing = false;

  constructor(
    @Inject(CONFIG) config: Config,
    private readonly entry: EntryService,
    private readonly answers: AnswerService,
  ) {
    this.check = new OriginHostCheck(config);
  }

  /** From now on every request is told that this instance is going away. */
  close(): void {
    this.closing = true;
  }

  /** Marks a request whose `Expect` nobody here understands; it pays like any other and then gets its 417. */
  expectationFailed(raw: object): void {
    (raw as { [EXPECTATION_FAILED]?: true })[EXPECTATION_FAILED] = true;
  }

  /**
   * Refuses a request before it is routed, or lets it on and says false. A flood comes to the surfaces, where no route
   * is outside the limits and where the layers that a flood meets ask nothing of the route; whatever could be answered
   * free is let on.
   */
  refuseUnrouted(raw: IncomingMessage, response: ServerResponse): boolean {
    const { origin } = raw.headers;
    const surface = surfaceOf(pathText(raw.url ?? ''));
    const mayBeFree =
      surface === 'other' || origin !== undefined || this.closing || !this.check.isHostAllowed(hostOf(raw));
    if (mayBeFree) return false;
    const context = this.entry.begin(raw, response, surface);
    const refusal = this.entry.admission.lookAhead(context);
    if (refusal !== undefined) this.answers.writeRefusal(refusal, context, raw, response);
    return refusal !== undefined;
  }

  /** Answers the request, which has matched `route`, and says true, or lets it on and says false. */
  receive(request: FastifyRequest, reply: FastifyReply, route: HttpRoute): boolean {
    const isNew = findRequestContext(request.raw) === undefined;
    if (isNew && this.answersFree(request, reply)) return true;
    const error = this.unroutable(request.raw, route) ?? unanswerable(request.raw);
    const context = this.entry.enter(request, reply, error === undefined ? route : NO_ROUTE);
    const { origin } = request.raw.headers;
    // Set where the origin is an allowed one; a page of this very server needs none.
    if (origin !== undefined && reply.hasHeader('access-control-allow-origin')) {
      context.answerHeaders.push(...Object.entries(corsHeaders(origin)).flat());
    }
    const refusal = this.entry.admission.lookAhead(context);
    if (refusal !== undefined) this.answers.refuse(refusal, context, request, reply);
    else if (error !== undefined) this.answers.fail(error, request, reply);
    // A call's are in the list.
    else if (context.call !== true) reply.headers(route.headers);
    return refusal !== undefined || error !== undefined;
  }

  /** What the router would have answered by a route that is not meant for the request. */
  private unroutable(raw: IncomingMessage, route: HttpRoute): AppError | undefined {
    const path = pathText(raw.url ?? '');
    // Fastify asks of `QUERY` a content type before it looks whether there is such a route, and its router takes the
    // first character of a target for a slash, whatever it is.
    const isUnknown =
      raw.method === 'HEAD' || raw.method === 'QUERY' || !path.startsWith('/') || (route.isDocs && !isDocsFile(path));
    return isUnknown ? this.answers.unmatched(raw) : undefined;
  }

  private answersFree(request: FastifyRequest, reply: FastifyReply): boolean {
    const { headers, url = '', method } = request.raw;
    const path = pathText(url);
    const host = hostOf(request.raw);
    const isHealth = path.startsWith('/health/');
    if (!isHealth && !this.check.isHostAllowed(host)) {
      return this.say(new AppError('FORBIDDEN', UNKNOWN_HOST), request, reply);
    }
    const verdict = this.check.judgeOrigin(headers.origin, host);
    if (verdict === 'forbidden') {
      return this.say(new AppError('FORBIDDEN', 'Pages of this Origin may not call this server.'), request, reply);
    }
    if (verdict === 'allowed' && headers.origin !== undefined) reply.headers(corsHeaders(headers.origin));
    if (this.closing && !isHealth) {
      reply.header('connection', 'close');
      return this.say(new AppError('SHUTTING_DOWN', SHUTTING_DOWN, { retryAfterSeconds: 1 }), request, reply);
    }
    if (verdict === 'allowed' && method === 'OPTIONS' && headers['access-control-request-method'] !== undefined)
      return preflight(request, reply);
    return path.startsWith(RESOURCE_METADATA_PATH) && this.answersMetadata(path, request, reply);
  }

  private answersMetadata(path: string, request: FastifyRequest, reply: FastifyReply): true {
    const document = this.answers.resource.document(path);
    if (document === undefined)
      return this.say(new AppError('NOT_FOUND', 'This server publishes no OAuth metadata here.'), request, reply);
    if (request.raw.method !== 'GET') {
      const error = new AppError('METHOD_NOT_ALLOWED', 'This path takes GET only.', { allow: ['GET'] });
      return this.say(error, request, reply);
    }
    // Whoever keeps it for others has to ask anew for a page of an allowed origin.
    reply.headers(ANSWER_HEADERS).header('cache-control', METADATA_CACHING).header('vary', 'Origin');
    reply.header('content-type', 'application/json').send(document);
    return true;
  }

  private say(error: AppError, request: FastifyRequest, reply: FastifyReply): true {
    const surface = surfaceOf(pathText(request.raw.url ?? ''));
    const revision = request.raw.headers['mcp-protocol-version'];
    const modern = typeof revision === 'string' && isModernRevision(revision);
    this.answers.send(error, { surface, modern, answerHeaders: [...ANSWER_HEADER_LIST] }, request, reply);
    return true;
  }
}

/**
 * What the router would answer by itself, once it has paid. Contract: "also where no route, guard or hook would run".
 */
function unanswerable(raw: IncomingMessage): AppError | undefined {
  if (EXPECTATION_FAILED in raw) {
    return new AppError('INVALID_ARGUMENT', 'Expect: only 100-continue is allowed.', { status: 417 });
  }
  if (hasTwoHosts(raw.rawHeaders)) return new AppError('INVALID_ARGUMENT', 'The request names more than one Host.');
  const type = raw.headers['content-type'];
  if (type === undefined || MEDIA_TYPE.test(type)) return undefined;
  return new AppError('UNSUPPORTED_MEDIA_TYPE', 'The Content-Type is malformed; application/json is allowed.');
}

/** RFC 9112, 3.2: Node keeps the first, and whoever stands in front may have gone by another. */
function hasTwoHosts(rawHeaders: readonly string[]): boolean {
  let hosts = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]!;
    if (name.length === 4 && name.toLowerCase() === 'host') hosts += 1;
  }
  return hosts > 1;
}

const UNKNOWN_HOST = 'This server does not answer for this Host; its operator lists names in TIDB_MCP_ALLOWED_HOSTS.';
const SHUTTING_DOWN = 'This instance is shutting down. Retry in 1s; another instance takes the call.';

/** What a page of an allowed origin needs to read the answer. */
function corsHeaders(origin: string): Record<string, string> {
  return { 'access-control-allow-origin': origin, vary: 'Origin', 'access-control-expose-headers': EXPOSED };
}

function preflight(request: FastifyRequest, reply: FastifyReply): true {
  const asked = request.raw.headers['access-control-request-headers'];
  if (asked !== undefined && HEADER_LIST.test(asked)) reply.header('access-control-allow-headers', asked);
  reply
    .code(204)
    .headers(ANSWER_HEADERS)
    .header('access-control-allow-methods', 'GET, POST')
    .header('access-control-max-age', PREFLIGHT_SECONDS)
    .send();
  return true;
}
