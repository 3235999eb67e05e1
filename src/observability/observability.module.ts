import { Global, Module } from '@nestjs/common';
import { TerminusModule } from '@nestjs/terminus';
import { CONFIG, type Config } from '../config/config.js';
import { FileSink } from './file-sink.adapter.js';
import { HealthController } from './health.controller.js';
import { HealthRegistry } from './health-registry.service.js';
import { LogService } from './logger.service.js';
import { MetricsController } from './metrics.controller.js';
import { MetricsService } from './metrics.service.js';
import { standardStream } from './standard-stream.adapter.js';
import { COLLECTOR_SINK, TELEMETRY_SINK, type TelemetrySink } from './telemetry-sink.js';
import { TelemetryService } from './telemetry.service.js';

/** On stdio, standard output is the protocol's alone. */
function outputOf(config: Config): 1 | 2 {
  return config.transport === 'stdio' ? 2 : 1;
}

/** The server's log before and inside the application: the same lines, the same stream. */
export function createLogService(config: Config): LogService {
  const stream = standardStream(outputOf(config));
  return new LogService(config, { write: (line) => stream.write([line]) });
}

/** Where the configuration sends telemetry; null: nowhere. */
export function createTelemetrySink(config: Config): TelemetrySink | null {
  if (config.telemetry === 'off') return null;
  if (config.telemetry === 'stdout') return standardStream(outputOf(config));
  return new FileSink(config.telemetry.slice('file:'.length));
}

/** The collector that gets a copy of all telemetry; its library is loaded only where there is one. */
export async function createCollectorSink({ otlpLogsUrl, telemetry }: Config): Promise<TelemetrySink | null> {
  if (otlpLogsUrl === undefined || telemetry === 'off') return null;
  const { OtlpSink } = await import('./otlp-sink.adapter.js');
  return new OtlpSink(otlpLogsUrl);
}

/** Logs, metrics, telemetry and health, for every part of the server. */
@Global()
@Module({
  imports: [TerminusModule.forRoot({ logger: false })],
  controllers: [HealthController, MetricsController],
  providers: [
    { provide: LogService, useFactory: createLogService, inject: [CONFIG] },
    { provide: TELEMETRY_SINK, useFactory: createTelemetrySink, inject: [CONFIG] },
    { provide: COLLECTOR_SINK, useFactory: createCollectorSink, inject: [CONFIG] },
    MetricsService,
    TelemetryService,
    HealthRegistry,
  ],
  exports: [LogService, MetricsService, TelemetryService, HealthRegistry],
})
export class ObservabilityModule {}
