import { SeverityNumber } from '@opentelemetry/api-logs';
import { OTLPLogExporter } from '@opentelemetry/exporter-logs-otlp-http';
import {
  defaultResource,
  detectResources,
  envDetector,
  type Resource,
  resourceFromAttributes,
} from '@opentelemetry/resources';
import type { ReadableLogRecord } from '@opentelemetry/sdk-logs';
import { reasonOf } from './line-writer.js';
import type { TelemetrySink } from './telemetry-sink.js';

/** The library's own time-out for silence is 10 s; a collector that drips is given up after this. */
const EXPORT_MS = 12_000;
const SCOPE = { name: 'tidb-cloud-mcp/telemetry' };

/**
 * Sends telemetry as OpenTelemetry logs over OTLP/HTTP in JSON: the event's line as the body, its fields as attributes.
 * Headers, compression, certificates, time-out and resource attributes come from OpenTelemetry's own variables.
 */
export class OtlpSink implements TelemetrySink {
  readonly #exporter: OTLPLogExporter;
  readonly #resource: Resource;

  /** @param url where logs are posted to */
  constructor(url: string) {
    this.#exporter = new OTLPLogExporter({ url });
    const own = resourceFromAttributes({ 'service.name': 'tidb-cloud-mcp' });
    this.#resource = defaultResource()
      .merge(own)
      .merge(detectResources({ detectors: [envDetector] }));
  }

  write(lines: readonly string[], done: (arrived: number, reason?: string) => void): void {
    const timer = setTimeout(() => done(0, 'collector too slow'), EXPORT_MS).unref();
    this.#exporter.export(
      lines.map((line) => this.#record(line)),
      ({ error }) => {
        clearTimeout(timer);
        if (error === undefined) done(lines.length);
        else done(0, `collector: ${reasonOf(error)}`);
      },
    );
  }

  /** Lets go of the connections to the collector; an export that is under way is not waited for. */
  close(): void {
    this.#exporter.shutdown().catch(() => undefined);
  }

  #record(line: string): ReadableLogRecord {
    const { event, at, ...fields } = JSON.parse(line) as { event: string; at: string };
    const utcMs = Date.parse(at);
    const time: [number, number] = [Math.floor(utcMs / 1000), (utcMs % 1000) * 1_000_000];
    const known = Object.entries(fields).filter(([, value]) => value !== null);
    return {
      hrTime: time,
      hrTimeObserved: time,
      severityNumber: SeverityNumber.INFO,
      severityText: 'INFO',
      eventName: event,
      body: line.trimEnd(),
      attributes: { event, ...(Object.fromEntries(known) as Record<string, string | number>) },
      droppedAttributesCount: 0,
      instrumentationScope: SCOPE,
      resource: this.#resource,
    };
  }
}
