import type { IncomingMessage, ServerResponse } from 'node:http';
import { Inject, Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ProofService } from '../auth/proof.service.js';
import { ClientIpService } from '../client-ip/client-ip.service.js';
import { CONFIG, type Config } from '../config/config.js';
import type { Surface } from '../errors/error-body.js';
import { LimitsService } from '../limits/limits.service.js';
import { isAdmin } from '../observability/admin-token.js';
import { MetricsService } from '../observability/metrics.service.js';
import {
  type ClientAddress,
  findRequestContext,
  setRequestContext,
  type RequestContext,
} from '../request/request-context.js';
import type { Identity } from '../request/credential.js';
import type { RouteMark } from '../request/route.decorator.js';
import { soleAuthorization } from '../request/sole-authorization.js';
import { HttpRequestContext, pathText, surfaceOf } from './http-request-context.js';
import { type HttpRoute, NO_ROUTE } from './http-route.js';

/** Fills the context of each request: who calls, from where, by which surface, at which price. Pure, no I/O. */
@Injectable()
export class EntryService {
  constructor(
    @Inject(CONFIG) private readonly config: Config,
    private readonly clientIp: ClientIpService,
    private readonly proof: ProofService,
    private readonly limits: LimitsService,
    private readonly metrics: MetricsService,
  ) {}

  /** Puts the context on a request that has not been routed yet; its path must have no route outside the limits. */
  begin(raw: IncomingMessage, response: ServerResponse, surface: Surface): RequestContext {
    return this.fill(raw, response, surface, true);
  }

  /**
   * Completes the context by what the matched route says of itself; a request outside the limits counts as admitted.
   * @param route what matched; {@link NO_ROUTE} too where it is clear already that no controller will see the request
   */
  enter(request: FastifyRequest, reply: FastifyReply, route: HttpRoute): RequestContext {
    const { raw } = request;
    const mark = route.hasParameters && hasEmpty(request.params) ? NO_ROUTE.mark : route.mark;
    const context = findRequestContext(raw) ?? this.first(mark, raw, reply.raw);
    context.call = mark.call === true;
    return context;
  }

  /** See {@link LimitsService.allowance}. */
  allowance(identity: Identity): ReturnType<LimitsService['allowance']> {
    return this.limits.allowance(identity);
  }

  /** The one admission. */
  get admission(): LimitsService['admission'] {
    return this.limits.admission;
  }

  private first(mark: RouteMark, raw: IncomingMessage, response: ServerResponse): RequestContext {
    const isFree = this.isFree(mark, raw);
    const identified = !isFree && mark.admin !== true;
    const context = this.fill(raw, response, surfaceOf(pathText(raw.url ?? '')), identified);
    if (isFree) context.stage = 'admitted';
    return context;
  }

  private fill(raw: IncomingMessage, response: ServerResponse, surface: Surface, identified: boolean): RequestContext {
    const client = this.clientIp.read(raw);
    // Health checks and scrapes come past the proxy, and say nothing about it.
    if (identified) this.note(client, raw);
    const identity = identified ? this.proof.identify(raw, surface === 'v1', client.key) : undefined;
    const context = new HttpRequestContext(surface, client, identity, raw, response);
    setRequestContext(raw, context);
    return context;
  }

  private note(client: ClientAddress, raw: IncomingMessage): void {
    this.metrics.countClientIp(client.source);
    this.clientIp.warnOf(client, raw);
  }

  private isFree(mark: RouteMark, raw: IncomingMessage): boolean {
    if (mark.admin !== true) return mark.free === true;
    return this.config.adminToken === undefined || isAdmin(soleAuthorization(raw.rawHeaders), this.config.adminToken);
  }
}

/** The router takes an empty segment for a parameter, but such a path (a trailing slash) is answered as unknown. */
function hasEmpty(params: unknown): boolean {
  return Object.values(params ?? {}).includes('');
}
