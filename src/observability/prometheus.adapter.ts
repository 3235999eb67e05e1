import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { CountRow, CountTable, type OpenCounts } from './counts.js';
import { GAUGES, type GaugeName, type GaugeReaders } from './gauges.js';
import type { MetricCounts } from './metric-counts.js';

/** How many requests took up to so long. */
export interface LatencyCount {
  readonly upToSeconds: number;
  readonly requests: number;
}

type Sample = readonly [labels: Record<string, string>, value: number];

/** How the counts are shown to Prometheus: read at each rendering, never pushed. */
export class PrometheusView {
  readonly registry = new Registry();
  readonly quotaFlushSeconds: Histogram;
  readonly upstreamSeconds: Histogram;

  constructor(counts: MetricCounts, gauges: GaugeReaders) {
    this.#addLimits(counts);
    this.#addWork(counts);
    this.#addTelemetry(counts);
    for (const name of Object.keys(GAUGES) as GaugeName[]) this.#gauge(name, gauges);
    this.quotaFlushSeconds = this.#histogram(
      'tidb_mcp_quota_flush_seconds',
      'How long a quota flush took.',
      [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 5],
    );
    this.upstreamSeconds = this.#histogram(
      'tidb_mcp_upstream_seconds',
      'How long an upstream request took.',
      [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
    );
  }

  #addLimits(counts: MetricCounts): void {
    this.#table(
      'tidb_mcp_refusals_total',
      'Requests refused by a layer of limits.',
      ['limit', 'surface'],
      counts.refusals,
    );
    this.#table(
      'tidb_mcp_shadow_refusals_total',
      'Requests that a layer in shadow mode let through and would have refused.',
      ['limit', 'surface'],
      counts.shadowRefusals,
    );
    this.#row('tidb_mcp_admitted_total', 'Requests handed to an operation.', 'surface', counts.admitted);
    this.#row('tidb_mcp_client_ip_total', 'Where client addresses were read from.', 'source', counts.clientIp);
    this.#counter('tidb_mcp_preauth_overflow_total', 'Requests that fell into an overflow bucket.', [], () => [
      [{}, counts.preauthOverflow],
    ]);
  }

  #addWork(counts: MetricCounts): void {
    this.#row(
      'tidb_mcp_auth_total',
      'Validations by result; missing: requests without a credential.',
      'result',
      counts.auth,
    );
    this.#row('tidb_mcp_quota_flush_total', 'Quota flushes by result.', 'result', counts.quotaFlushes);
    this.#counter('tidb_mcp_upstream_requests_total', 'Upstream requests by outcome.', ['outcome'], () =>
      samplesOf(counts.upstream, 'outcome'),
    );
    this.#counter('tidb_mcp_confirm_total', 'Preflights and confirms by result.', ['step', 'result'], () => [
      ...samplesOf(counts.confirm.preflight, 'result', { step: 'preflight' }),
      ...samplesOf(counts.confirm.confirm, 'result', { step: 'confirm' }),
    ]);
  }

  #addTelemetry(counts: MetricCounts): void {
    const help = 'Telemetry events by what became of them.';
    this.#table('tidb_mcp_telemetry_events_total', help, ['kind', 'result'], counts.telemetryEvents);
    const represented = 'Refusals that telemetry events stand for, by what became of these.';
    this.#row('tidb_mcp_telemetry_represented_total', represented, 'result', counts.represented);
    const copies = 'Telemetry events that were also meant for an OpenTelemetry collector, by what became of these.';
    this.#row('tidb_mcp_telemetry_otlp_total', copies, 'result', counts.collectorEvents);
  }

  #table(name: string, help: string, labels: [string, string], table: CountTable<string, string>): void {
    const [rowLabel, columnLabel] = labels;
    this.#counter(name, help, labels, () =>
      table.rows.flatMap((row) =>
        table.columns.map((column) => [{ [rowLabel]: row, [columnLabel]: column }, table.get(row, column)] as const),
      ),
    );
  }

  #row(name: string, help: string, label: string, row: CountRow<string>): void {
    this.#counter(name, help, [label], () => row.labels.map((value) => [{ [label]: value }, row.get(value)] as const));
  }

  #counter(name: string, help: string, labelNames: string[], read: () => Sample[]): void {
    const collect = function (this: Counter): void {
      this.reset();
      for (const [labels, value] of read()) this.inc(labels, value);
    };
    void new Counter({ name, help, labelNames, registers: [this.registry], collect });
  }

  #gauge(name: GaugeName, gauges: GaugeReaders): void {
    const labelNames = name === 'tidb_mcp_buckets' ? ['layer'] : [];
    const collect = function (this: Gauge): void {
      const value = gauges.read(name);
      if (value === undefined) return;
      if (typeof value === 'number') this.set(value);
      else for (const [layer, count] of Object.entries(value)) this.set({ layer }, count);
    };
    void new Gauge({ name, help: GAUGES[name], labelNames, registers: [this.registry], collect });
  }

  #histogram(name: string, help: string, buckets: number[]): Histogram {
    return new Histogram({ name, help, buckets, registers: [this.registry] });
  }
}

/** A histogram's buckets as they stand: cumulative, the last without bound. */
export async function latencyCounts(histogram: Histogram): Promise<LatencyCount[]> {
  const { values } = await histogram.get();
  const buckets = values.filter(({ labels }) => labels['le'] !== undefined);
  return buckets.map(({ labels, value }) => ({ upToSeconds: boundOf(labels['le']), requests: value }));
}

function boundOf(label: string | number | undefined): number {
  return label === '+Inf' ? Number.POSITIVE_INFINITY : Number(label);
}

function samplesOf(counts: OpenCounts, label: string, more: Record<string, string> = {}): Sample[] {
  return Object.entries(counts.all()).map(([value, count]) => [{ ...more, [label]: value }, count] as const);
}
