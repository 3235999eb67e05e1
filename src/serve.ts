import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Logger } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { AppModule } from './app.module.js';
import type { Clock } from './clock/clock.js';
import type { Config } from './config/config.js';
import { type Say, stopGracefully, type Stoppable } from './graceful-stop.adapter.js';
import { closeUnused } from './http/connection-bounds.adapter.js';
import { FrontDoorService } from './http/front-door.service.js';
import { createHttpAdapter } from './http/http.adapter.js';
import { HealthRegistry } from './observability/health-registry.service.js';
import { createLogService } from './observability/observability.module.js';
import { TelemetryService } from './observability/telemetry.service.js';
import { setupDocs } from './openapi.js';
import type { StopRequest } from './stop-request.adapter.js';

/** A server that listens. */
export interface RunningServer {
  readonly app: NestFastifyApplication;
  /** Where it listens, with the port that was really taken. */
  readonly url: string;
  /**
   * Stops as the contract says: readiness is 503 at once and calls are served for the grace, then the listener closes,
   * running requests end, and the last flush is made. Ending `hurry` cuts the grace short. Stopping twice is once.
   */
  stop(hurry?: AbortSignal): Promise<void>;
}

/**
 * Starts the HTTP server; `clock` is the machine's unless a test brings one. `say` is told what stopping waits for; it
 * is the log unless somebody else listens.
 */
export async function runServer(config: Config, clock?: Clock, say: Say = logged): Promise<RunningServer> {
  const http = createHttpAdapter();
  const log = createLogService(config);
  const app = await NestFactory.create<NestFastifyApplication>(AppModule.forRoot(config, clock), http.adapter, {
    bodyParser: false,
    abortOnError: false,
    bufferLogs: false,
    logger: log,
  });
  http.connect(app);
  await setupDocs(app);
  // Building the document silences the logger that all applications of a process share.
  app.useLogger(log);
  try {
    await app.listen({ host: config.host, port: config.port });
  } catch (error) {
    await app.close();
    throw error;
  }
  app.get(TelemetryService).serves();
  const server: Server = app.getHttpServer();
  let stopping: Promise<void> | undefined;
  return {
    app,
    url: urlOf(server.address() as AddressInfo),
    stop: (hurry) => (stopping ??= stopGracefully(stoppable(app), config.shutdownGraceSeconds * 1_000, say, hurry)),
  };
}

/**
 * Serves until the process is told to stop, which it may be before it listens; answers the exit status. A second signal
 * cuts the grace short.
 */
export async function startServer(config: Config, warnings: readonly string[], stop: StopRequest): Promise<number> {
  const running = await runServer(config);
  const logger = new Logger('Serve');
  for (const warning of warnings) logger.warn(warning);
  logger.log(`tidb-cloud-mcp listens on ${running.url}`);
  await untilToldToStop(running, logged, stop);
  return 0;
}

function logged(sentence: string): void {
  new Logger('Serve').log(sentence);
}

/** Waits until the process is told to stop, and stops the server. */
export async function untilToldToStop(running: RunningServer, say: Say, stop: StopRequest): Promise<void> {
  // Who was told so before it listened has nobody to serve on for.
  const hurry = stop.isTold ? AbortSignal.abort() : stop.hurry;
  hurry.addEventListener('abort', () => say(`${String(hurry.reason)} again: no more waiting for new requests.`));
  say(`${await stop.told}: shutting down.`);
  await running.stop(hurry);
  say('Stopped.');
}

function stoppable(app: NestFastifyApplication): Stoppable {
  const server: Server = app.getHttpServer();
  return {
    announce: () => app.get(HealthRegistry).startShutdown(),
    refuse: () => app.get(FrontDoorService).close(),
    close: () => {
      closeUnused(server);
      return app.close();
    },
    connections: () => {
      server.closeIdleConnections();
      closeUnused(server);
      return new Promise((resolve) => server.getConnections((_error, count) => resolve(count)));
    },
    cut: () => server.closeAllConnections(),
  };
}

function urlOf({ address, family, port }: AddressInfo): string {
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
}
