import type { IncomingMessage } from 'node:http';
import { Inject, Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ProofService } from '../auth/proof.service.js';
import { ClientIpService } from '../client-ip/client-ip.service.js';
import { CONFIG, type Config } from '../config/config.js';
import { LimitsService } from '../limits/limits.service.js';
import { isAdmin } from '../observability/admin-token.js';
import { MetricsService } from '../observability/metrics.service.js';
import { setRequestContext, type RequestContext } from '../request/request-context.js';
import type { RouteMark } from '../request/route.decorator.js';
import { soleAuthorization } from '../request/sole-authorization.js';
import { HttpRequestContext, pathText, surfaceOf } from './http-request-context.js';

/** Swagger UI registers its routes by itself and can't mark them. */
const DOCS = /^\/docs(?:\/|$)/;

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

  /**
   * Puts the context on the request; one outside the limits counts as admitted.
   * @param answerable false where it is clear already that no controller will see the request, so that it is no call
   */
  enter(request: FastifyRequest, reply: FastifyReply, answerable = true): RequestContext {
    const { raw } = request;
    const path = pathText(raw.url ?? '');
    const surface = surfaceOf(path);
    const client = this.clientIp.read(raw);
    this.metrics.countClientIp(client.source);
    const mark = answerable ? markOf(request) : {};
    const isFree = this.isFree(mark, raw);
    const identity =
      isFree || mark.admin === true ? undefined : this.proof.identify(raw, path.startsWith('/v1/'), client.key);
    const exchange = { request: raw, response: reply.raw };
    const context = new HttpRequestContext(surface, mark.call === true, client, identity, exchange);
    if (isFree) context.stage = 'admitted';
    setRequestContext(raw, context);
    return context;
  }

  /** The one admission. */
  get admission(): LimitsService['admission'] {
    return this.limits.admission;
  }

  private isFree(mark: RouteMark, raw: IncomingMessage): boolean {
    if (mark.admin !== true) return mark.free === true;
    return this.config.adminToken === undefined || isAdmin(soleAuthorization(raw.rawHeaders), this.config.adminToken);
  }
}

/**
 * The matched route's mark; what matched no route has none. The router takes an empty segment for a parameter, but such
 * a path (a trailing slash) is answered as unknown.
 */
function markOf(request: FastifyRequest): RouteMark {
  if (request.is404 || Object.values(request.params ?? {}).includes('')) return {};
  const { url, config } = request.routeOptions;
  return url !== undefined && DOCS.test(url) ? { free: true } : ((config as RouteMark | undefined) ?? {});
}
