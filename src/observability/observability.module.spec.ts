import { Catch, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { Test } from '@nestjs/testing';
import { afterEach, describe, expect, it } from 'vitest';
import { ClockModule } from '../clock/clock.module.js';
import { ConfigModule } from '../config/config.module.js';
import type { Environment } from '../config/otlp-endpoint.js';
import { configOf } from '../config/parse-config.js';
import { AppError } from '../errors/app-error.js';
import { HealthRegistry } from './health-registry.service.js';
import { MetricsService } from './metrics.service.js';
import { ObservabilityModule } from './observability.module.js';

@Catch(AppError)
class StatusFilter implements ExceptionFilter {
  catch(error: AppError, host: ArgumentsHost): void {
    const reply = host.switchToHttp().getResponse<{ status(code: number): { send(body: unknown): void } }>();
    reply.status(error.status).send({ code: error.code });
  }
}

let app: NestFastifyApplication;
afterEach(() => app.close());

async function start(env: Environment = {}): Promise<NestFastifyApplication> {
  const testing = await Test.createTestingModule({
    imports: [
      ConfigModule.forRoot(configOf({ TIDB_MCP_TELEMETRY: 'off', ...env })),
      ClockModule.forRoot(),
      ObservabilityModule,
    ],
  }).compile();
  app = testing.createNestApplication<NestFastifyApplication>(new FastifyAdapter());
  app.useGlobalFilters(new StatusFilter());
  await app.init();
  await app.getHttpAdapter().getInstance().ready();
  return app;
}

describe('GET /health/ready', () => {
  it('is 200 while everything is well', async () => {
    await start();
    app.get(HealthRegistry).register('controlDatabase', () => ({ degraded: false }));
    const answer = await app.inject('/health/ready');
    expect(answer.statusCode).toBe(200);
    expect(answer.json()).toMatchObject({ status: 'ok', details: { controlDatabase: { degraded: false } } });
    expect(answer.headers['cache-control']).toContain('no-store');
  });

  it('is 200 with degraded: true in the details while the control database is away', async () => {
    await start();
    app.get(HealthRegistry).register('controlDatabase', () => ({ degraded: true, sinceSeconds: 4 }));
    const answer = await app.inject('/health/ready');
    expect(answer.statusCode).toBe(200);
    expect(answer.json()).toMatchObject({ details: { controlDatabase: { degraded: true, sinceSeconds: 4 } } });
  });

  it('is 503 once the server shuts down, while it goes on being alive', async () => {
    await start();
    app.get(HealthRegistry).startShutdown();
    const answer = await app.inject('/health/ready');
    expect(answer.statusCode).toBe(503);
    expect(answer.json()).toMatchObject({ details: { server: { shuttingDown: true } } });
    expect((await app.inject('/health/live')).statusCode).toBe(200);
  });

  it('says that a part is impaired when that part can not say how it is', async () => {
    await start();
    app.get(HealthRegistry).register('broken', () => {
      throw new Error('gone');
    });
    expect((await app.inject('/health/ready')).json()).toMatchObject({ details: { broken: { degraded: true } } });
  });
});

describe('GET /metrics', () => {
  it('is Prometheus text, and JSON for who asks for it', async () => {
    await start();
    app.get(MetricsService).countRefusal('global', 'v1');
    const text = await app.inject('/metrics');
    expect(text.headers['content-type']).toBe('text/plain; version=0.0.4; charset=utf-8');
    expect(text.body).toContain('tidb_mcp_refusals_total{limit="global",surface="v1"} 1');
    expect(text.body).toContain('process_resident_memory_bytes');
    const json = await app.inject({ url: '/metrics', headers: { accept: 'application/json' } });
    expect(json.headers['content-type']).toBe('application/json; charset=utf-8');
    expect(json.json()).toMatchObject({ refusals: { global: 1 } });
  });

  it('with an admin token configured is for its bearer alone', async () => {
    await start({ TIDB_MCP_ADMIN_TOKEN: 'the-admins-own-token' });
    const ask = (authorization?: string) =>
      app.inject({ url: '/metrics', headers: authorization === undefined ? {} : { authorization } });
    expect((await ask()).statusCode).toBe(401);
    expect((await ask('Bearer the-admins-own-tokem')).json()).toEqual({ code: 'UNAUTHENTICATED' });
    expect((await ask('bearer the-admins-own-token')).statusCode).toBe(200);
  });
});
