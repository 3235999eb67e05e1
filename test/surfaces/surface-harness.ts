import { type ArgumentsHost, Catch, type ExceptionFilter, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { CapabilitiesReport } from '../../src/capabilities/capabilities-report.js';
import { McpHttpAdapter } from '../../src/capabilities/mcp-http.adapter.js';
import { McpController } from '../../src/capabilities/mcp.controller.js';
import { OperationConfirmations } from '../../src/capabilities/operation-confirmations.service.js';
import { OperationContexts } from '../../src/capabilities/operation-contexts.service.js';
import { QuotaService } from '../../src/quota/quota.service.js';
import { OperationRunner } from '../../src/capabilities/operation-runner.service.js';
import { OperationUpstream } from '../../src/capabilities/operation-upstream.service.js';
import { capabilitiesOperation } from '../../src/capabilities/operations/capabilities.operation.js';
import { confirmOperation } from '../../src/capabilities/operations/confirm.operation.js';
import { preflightOperation } from '../../src/capabilities/operations/preflight.operation.js';
import { REJECTION_LISTENER } from '../../src/capabilities/rejection-listener.js';
import { SERVER_DESCRIPTION } from '../../src/capabilities/server-description.js';
import { V1Controller } from '../../src/capabilities/v1.controller.js';
import { CLOCK } from '../../src/clock/clock.js';
import { CONFIG } from '../../src/config/config.js';
import { ConfirmService } from '../../src/confirm/confirm.service.js';
import { AppError } from '../../src/errors/app-error.js';
import { errorBody, isModernRevision } from '../../src/errors/error-body.js';
import { MetricsService } from '../../src/observability/metrics.service.js';
import { TelemetryService } from '../../src/observability/telemetry.service.js';
import type { Identity, IdentityKind } from '../../src/request/credential.js';
import type { Surface } from '../../src/errors/error-body.js';
import { type RequestContext, setRequestContext } from '../../src/request/request-context.js';
import type { Outcome } from '../../src/tidb-cloud/outcome.js';
import { TidbCloudService } from '../../src/tidb-cloud/tidb-cloud.service.js';
import type { UpstreamRequest } from '../../src/tidb-cloud/upstream-request.js';

/** TiDB Cloud by a function: what it is asked, and what it answers. */
export class FakeTidbCloud {
  readonly requests: UpstreamRequest[] = [];
  readonly signals: AbortSignal[] = [];
  answer: (request: UpstreamRequest, signal: AbortSignal) => Outcome<unknown> | Promise<Outcome<unknown>> = () => ({
    kind: 'ok',
    value: {},
  });

  async request(_session: unknown, request: UpstreamRequest, signal: AbortSignal): Promise<Outcome<unknown>> {
    this.requests.push(request);
    this.signals.push(signal);
    return this.answer(request, signal);
  }
}

/** Preflights and confirms by what the examples of their operations answer. */
export class FakeConfirmations {
  preflight(_party: unknown, operation: { name: string }) {
    return Promise.resolve({ ...preflightOperation.example.output, operation: operation.name });
  }

  confirm() {
    return Promise.resolve(confirmOperation.example.output);
  }
}

/** What a test of the surfaces works with. */
export interface Surfaces {
  confirmations: FakeConfirmations;
  config: { v1Tokens: string[]; readOnly: boolean; maxBodyBytes: number };
  url: string;
  app: NestFastifyApplication;
  tidbCloud: FakeTidbCloud;
  forgotten: Identity[];
  admitted: string[];
  events: unknown[];
  kind: IdentityKind;
  /** What the server says of itself. */
  describe(): CapabilitiesReport;
  /** A client of the given era, connected; the newer one negotiates. */
  connect(era: 'legacy' | 'auto'): Promise<Client>;
  close(): Promise<void>;
}

/** Decorators are applied by hand here: the test runner compiles them in `src` alone. */
class Filter implements ExceptionFilter {
  catch(error: unknown, host: ArgumentsHost): void {
    const request = host.switchToHttp().getRequest<FastifyRequest>();
    const reply = host.switchToHttp().getResponse<FastifyReply>();
    const told = error instanceof AppError ? error : new AppError('INTERNAL', String(error));
    const surface = request.url.startsWith('/v1/') ? 'v1' : 'mcp';
    const modern = isModernRevision(request.headers['mcp-protocol-version'] as string | undefined);
    const { contentType, body } = errorBody(surface, modern, told.code, told.message, told.extras);
    void reply.code(told.status).type(contentType).send(body);
  }
}

Catch()(Filter);

/** The answer of `describeServer` in these tests. */
export const DESCRIPTION: CapabilitiesReport = capabilitiesOperation.example.output;

/** Both HTTP surfaces over a fake TiDB Cloud: no limits, no authentication, everything else as it is. */
export async function startSurfaces(): Promise<Surfaces> {
  const tidbCloud = new FakeTidbCloud();
  const seen = { forgotten: [] as Identity[], admitted: [] as string[], events: [] as unknown[] };
  const fakes = {
    tidbCloud,
    confirmations: new FakeConfirmations(),
    config: { v1Tokens: [], readOnly: false, maxBodyBytes: 1_000_000 },
  };
  const surfaces = {
    ...seen,
    ...fakes,
    kind: 'api-key' as IdentityKind,
    describe: () => DESCRIPTION,
  } as unknown as Surfaces;
  const app = await NestFactory.create<NestFastifyApplication>(moduleOver(surfaces), new FastifyAdapter(), {
    logger: false,
    abortOnError: false,
    bodyParser: false,
  });
  app.useGlobalFilters(new Filter());
  // Bodies stay unread, as in the product: the pipe at the handlers reads them.
  const fastify = app.getHttpAdapter().getInstance();
  fastify.removeAllContentTypeParsers();
  fastify.addContentTypeParser('*', (_request, _payload, done) => done(null, undefined));
  fastify.addHook('onRequest', async (request, reply) => {
    setRequestContext(request.raw, contextOf(surfaces.kind, request.url === '/mcp' ? 'mcp' : 'v1', reply));
  });
  await app.listen(0, '127.0.0.1');
  surfaces.app = app;
  surfaces.url = await app.getUrl();
  surfaces.connect = (era) => connect(surfaces.url, era);
  surfaces.close = () => app.close();
  return surfaces;
}

function moduleOver(surfaces: Surfaces): new () => object {
  class SurfacesModule {}
  Module({
    controllers: [V1Controller, McpController],
    providers: [
      McpHttpAdapter,
      OperationConfirmations,
      OperationContexts,
      OperationRunner,
      OperationUpstream,
      { provide: CONFIG, useValue: surfaces.config },
      { provide: ConfirmService, useValue: surfaces.confirmations },
      { provide: TidbCloudService, useValue: surfaces.tidbCloud },
      { provide: MetricsService, useValue: { countAdmitted: (surface: string) => surfaces.admitted.push(surface) } },
      { provide: TelemetryService, useValue: { emit: (event: unknown) => surfaces.events.push(event) } },
      { provide: QuotaService, useValue: { status: () => DESCRIPTION.limits.quota } },
      { provide: SERVER_DESCRIPTION, useValue: { describe: () => surfaces.describe() } },
      { provide: CLOCK, useValue: { monotonicMs: () => 0, utcMs: () => 0 } },
      {
        provide: REJECTION_LISTENER,
        useValue: { forgetRejected: (identity: Identity) => surfaces.forgotten.push(identity) },
      },
    ],
  })(SurfacesModule);
  return SurfacesModule;
}

function contextOf(kind: IdentityKind, surface: Surface, reply: FastifyReply): RequestContext {
  const gone = new AbortController();
  reply.raw.on('close', () => {
    if (!reply.raw.writableFinished) gone.abort();
  });
  const credential = { kind: 'api-key', publicKey: 'pub', privateKey: 'private' } as const;
  const tenant = { identity: { kind, fingerprint: 'f'.repeat(64), credential }, session: { credential } };
  return { tenant, surface, signal: gone.signal, answerHeaders: [] } as unknown as RequestContext;
}

async function connect(url: string, era: 'legacy' | 'auto'): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode: era } });
  await client.connect(new StreamableHTTPClientTransport(new URL('/mcp', url)));
  return client;
}
