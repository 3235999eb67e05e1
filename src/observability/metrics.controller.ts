import { Controller, Get, Inject, Req, Res } from '@nestjs/common';
import { ApiBearerAuth, ApiOperation, ApiProduces, ApiTags } from '@nestjs/swagger';
import { CONFIG, type Config } from '../config/config.js';
import { AppError } from '../errors/app-error.js';
import { Admin } from '../request/route.decorator.js';
import { prefersJson } from './accept.js';
import { soleAuthorization } from '../request/sole-authorization.js';
import { isAdmin } from './admin-token.js';
import { MetricsService } from './metrics.service.js';

/** What of the framework's request is read here. */
interface Request {
  readonly headers: { readonly accept?: string };
  readonly raw: { readonly rawHeaders: readonly string[] };
}

/** What of the framework's answer is set here. */
interface Reply {
  header(name: string, value: string): unknown;
}

/** The counters, for Prometheus and for people; with an admin token configured, for its bearer alone. */
@ApiTags('metrics')
@Controller('metrics')
export class MetricsController {
  constructor(
    @Inject(CONFIG) private readonly config: Config,
    private readonly metrics: MetricsService,
  ) {}

  /**
   * Prometheus text, or the JSON snapshot where `Accept` prefers it; rendered at most once a second.
   * @throws AppError UNAUTHENTICATED without the admin token
   */
  @Get()
  @Admin()
  @ApiOperation({ summary: 'Counters of this instance, as Prometheus text or as JSON' })
  @ApiProduces('text/plain', 'application/json')
  @ApiBearerAuth()
  async read(@Req() request: Request, @Res({ passthrough: true }) reply: Reply): Promise<string> {
    const { adminToken } = this.config;
    if (adminToken !== undefined && !isAdmin(soleAuthorization(request.raw.rawHeaders), adminToken)) {
      throw new AppError(
        'UNAUTHENTICATED',
        'Metrics need the admin token: Authorization: Bearer <TIDB_MCP_ADMIN_TOKEN>.',
      );
    }
    const json = prefersJson(request.headers.accept);
    reply.header('Cache-Control', 'no-store');
    reply.header('Vary', 'Accept');
    reply.header('Content-Type', json ? 'application/json; charset=utf-8' : this.metrics.contentType);
    return json ? this.metrics.json() : this.metrics.text();
  }
}
