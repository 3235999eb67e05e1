import { Controller, Get, Inject, Req, Res } from '@nestjs/common';
import { CONFIG, type Config } from '../config/config.js';
import { AppError } from '../errors/app-error.js';
import { isAdmin } from '../observability/admin-token.js';
import { Admin, Free } from '../request/route.decorator.js';
import { soleAuthorization } from '../request/sole-authorization.js';
import { CONSOLE_ASSETS, CONSOLE_ROUTES, type ConsoleAssets } from './console-assets.adapter.js';
import { ConsoleDataService } from './console-data.service.js';

/** What of the framework's request is read here. */
interface Request {
  readonly headers: { readonly 'if-none-match'?: string };
  readonly raw: { readonly rawHeaders: readonly string[] };
  readonly routeOptions: { readonly url?: string };
}

/** What of the framework's answer is set here. */
interface Reply {
  header(name: string, value: string): unknown;
  status(code: number): unknown;
}

/** The page runs nothing and shows nothing that does not come from this server as a file. */
const CONTENT_SECURITY_POLICY =
  "default-src 'self'; object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/**
 * The operator's page: static files for everybody, its data for the admin token alone. Contract: "Admission, in order".
 */
@Controller('console')
export class ConsoleController {
  constructor(
    @Inject(CONFIG) private readonly config: Config,
    @Inject(CONSOLE_ASSETS) private readonly assets: ConsoleAssets,
    private readonly data: ConsoleDataService,
  ) {}

  /**
   * A file of the page, from memory; 304 where the browser has it.
   * @throws AppError NOT_FOUND where the console is off
   */
  @Get([...CONSOLE_ROUTES])
  @Free()
  file(@Req() request: Request, @Res({ passthrough: true }) reply: Reply): Buffer | undefined {
    const route = (request.routeOptions.url ?? '').slice('/console/'.length);
    const asset = this.assets.get(route);
    if (asset === undefined) throw consoleOff();
    reply.header('Content-Security-Policy', CONTENT_SECURITY_POLICY);
    reply.header('Cache-Control', 'no-cache');
    reply.header('ETag', asset.etag);
    if (request.headers['if-none-match'] === asset.etag) {
      reply.status(304);
      return undefined;
    }
    reply.header('Content-Type', asset.contentType);
    return asset.body;
  }

  /**
   * What the page shows, at most a second old.
   * @throws AppError NOT_FOUND where the console is off, UNAUTHENTICATED without the admin token
   */
  @Get('data')
  @Admin()
  read(@Req() request: Request, @Res({ passthrough: true }) reply: Reply): Promise<string> {
    const { adminToken } = this.config;
    if (adminToken === undefined) throw consoleOff();
    if (!isAdmin(soleAuthorization(request.raw.rawHeaders), adminToken)) {
      const message = "The console's data needs the admin token: Authorization: Bearer <TIDB_MCP_ADMIN_TOKEN>.";
      throw new AppError('UNAUTHENTICATED', message);
    }
    reply.header('Cache-Control', 'no-store');
    reply.header('Content-Type', 'application/json; charset=utf-8');
    return this.data.json();
  }
}

function consoleOff(): AppError {
  return new AppError('NOT_FOUND', 'The console is off: this server runs without TIDB_MCP_ADMIN_TOKEN.');
}
