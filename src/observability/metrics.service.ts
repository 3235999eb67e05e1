import { Inject, Injectable, type OnModuleInit } from '@nestjs/common';
import { collectDefaultMetrics } from 'prom-client';
import { CLOCK, type Clock } from '../clock/clock.js';
import type { Surface } from '../errors/error-body.js';
import type { AddressSource, Limit } from '../request/request-context.js';
import { GaugeReaders, type GaugeName, type GaugeReader } from './gauges.js';
import type { AUTH_RESULTS, COLLECTOR_RESULTS, EVENT_RESULTS, FLUSH_RESULTS, REPRESENTED_RESULTS } from './labels.js';
import { MetricCounts } from './metric-counts.js';
import { OnceASecond } from './once-a-second.js';
import { latencyCounts, type LatencyCount, PrometheusView } from './prometheus.adapter.js';
import type { TelemetryKind } from './telemetry-event.js';

/**
 * What this instance has done, exactly, and what state it is in. Counting is an addition in a preallocated array; the
 * work of showing it is done when somebody looks, at most once a second. No label holds a tenant, an address or a path.
 * Contract: "Metrics".
 */
@Injectable()
export class MetricsService implements OnModuleInit {
  readonly #counts = new MetricCounts();
  readonly #gauges = new GaugeReaders();
  readonly #view = new PrometheusView(this.#counts, this.#gauges);
  readonly #text: OnceASecond<string>;
  readonly #json: OnceASecond<string>;
  #settle: () => Promise<void> = () => Promise.resolve();

  constructor(@Inject(CLOCK) clock: Clock) {
    this.#text = new OnceASecond(() => this.#renderText(), clock);
    this.#json = new OnceASecond(() => this.#renderJson(), clock);
  }

  /** The media type of {@link text}. */
  get contentType(): string {
    return this.#view.registry.contentType;
  }

  onModuleInit(): void {
    collectDefaultMetrics({ register: this.#view.registry });
  }

  /** One request was refused by a layer. */
  countRefusal(limit: Limit, surface: Surface): void {
    this.#counts.refusals.add(limit, surface);
  }

  /** One request was let through by a layer that is only watched, and would have been refused. Decision 0022. */
  countShadowRefusal(limit: Limit, surface: Surface): void {
    this.#counts.shadowRefusals.add(limit, surface);
  }

  /** One request was handed to an operation. */
  countAdmitted(surface: Surface): void {
    this.#counts.admitted.add(surface);
  }

  /** One validation ended, or (`missing`) one request brought no credential. */
  countAuth(result: (typeof AUTH_RESULTS)[number]): void {
    this.#counts.auth.add(result);
  }

  /** One client address was read. */
  countClientIp(source: AddressSource): void {
    this.#counts.clientIp.add(source);
  }

  /** One request fell into an overflow bucket, because no address bucket could be evicted. */
  countPreauthOverflow(): void {
    this.#counts.preauthOverflow += 1;
  }

  /** One quota flush ended. */
  observeQuotaFlush(result: (typeof FLUSH_RESULTS)[number], seconds: number): void {
    this.#counts.quotaFlushes.add(result);
    this.#view.quotaFlushSeconds.observe(seconds);
  }

  /** One upstream request ended; `outcome` is one of a few words. */
  observeUpstream(outcome: string, seconds: number): void {
    this.#counts.upstream.add(outcome);
    this.#view.upstreamSeconds.observe(seconds);
  }

  /** One preflight or confirm ended; `result` is one of a few words. */
  countConfirm(step: 'preflight' | 'confirm', result: string): void {
    this.#counts.confirm[step].add(result);
  }

  /** Telemetry events met their end. */
  countTelemetry(kind: TelemetryKind, result: (typeof EVENT_RESULTS)[number], events = 1): void {
    this.#counts.telemetryEvents.add(kind, result, events);
  }

  /** The event that stands for these refusals was sent, or was lost. */
  countRepresented(result: (typeof REPRESENTED_RESULTS)[number], refusals: number): void {
    this.#counts.represented.add(result, refusals);
  }

  /** An event's copy for the collector was sent, or was lost. */
  countCollectorEvent(result: (typeof COLLECTOR_RESULTS)[number]): void {
    this.#counts.collectorEvents.add(result);
  }

  /** Registers how a gauge is read when somebody looks; `tidb_mcp_buckets` answers a number for each layer. */
  gauge(name: GaugeName, read: GaugeReader): void {
    this.#gauges.set(name, read);
  }

  /** Registers what is waited for, briefly, before a rendering, so that what it shows adds up. */
  beforeRendering(settle: () => Promise<void>): void {
    this.#settle = settle;
  }

  /** How long upstream requests took so far, over the histogram's buckets. */
  upstreamLatency(): Promise<LatencyCount[]> {
    return latencyCounts(this.#view.upstreamSeconds);
  }

  /** Prometheus text, at most a second old. */
  text(): Promise<string> {
    return this.#text.get();
  }

  /** {@link snapshot} as JSON, at most a second old. */
  json(): Promise<string> {
    return this.#json.get();
  }

  /** All counts and gauges at this moment, for people and for the console. */
  snapshot(): MetricsSnapshot {
    const counts = this.#counts;
    return {
      refusals: counts.refusalTotals(),
      shadowRefusals: counts.shadowRefusalTotals(),
      admitted: counts.admitted.all(),
      auth: counts.auth.all(),
      clientIp: counts.clientIp.all(),
      preauthOverflow: counts.preauthOverflow,
      provenCredentials: this.#gauges.read('tidb_mcp_proven_credentials') ?? null,
      buckets: this.#gauges.read('tidb_mcp_buckets') ?? null,
      quotaFlushes: counts.quotaFlushes.all(),
      quotaPersistenceDegraded: this.#gauges.read('tidb_mcp_quota_persistence_degraded') === 1,
      liveInstances: this.#gauges.read('tidb_mcp_live_instances') ?? null,
      upstream: counts.upstream.all(),
      confirm: { preflight: counts.confirm.preflight.all(), confirm: counts.confirm.confirm.all() },
      telemetryRepresented: counts.represented.all(),
    };
  }

  async #renderText(): Promise<string> {
    await this.#settle();
    return this.#view.registry.metrics();
  }

  async #renderJson(): Promise<string> {
    await this.#settle();
    return JSON.stringify(this.snapshot());
  }
}

type Gauge = number | Record<string, number> | null;

/** The counters and gauges of `/metrics` as JSON; `refusals` is the contract's, null is a gauge that nobody owns. */
export interface MetricsSnapshot {
  refusals: Record<Limit, number>;
  shadowRefusals: Record<Limit, number>;
  admitted: Record<Surface, number>;
  auth: Record<(typeof AUTH_RESULTS)[number], number>;
  clientIp: Record<AddressSource, number>;
  preauthOverflow: number;
  provenCredentials: Gauge;
  buckets: Gauge;
  quotaFlushes: Record<(typeof FLUSH_RESULTS)[number], number>;
  quotaPersistenceDegraded: boolean;
  liveInstances: Gauge;
  upstream: Record<string, number>;
  confirm: { preflight: Record<string, number>; confirm: Record<string, number> };
  telemetryRepresented: Record<(typeof REPRESENTED_RESULTS)[number], number>;
}
