import { Inject, Injectable } from '@nestjs/common';
import { ProofService } from '../auth/proof.service.js';
import { CLOCK, type Clock } from '../clock/clock.js';
import { CONFIG, type Config } from '../config/config.js';
import { OnceASecond } from '../observability/once-a-second.js';
import { clientReport } from './client-report.js';
import { ConsoleHistoryService } from './console-history.service.js';
import type { ConsoleReport, LimitsReport } from './console-report.js';
import { SharedReportService } from './shared-report.service.js';
import { upstreamReport } from './upstream-report.js';

/** What the page shows, rendered at most once a second however many look. */
@Injectable()
export class ConsoleDataService {
  private readonly text: OnceASecond<string>;
  private readonly startedMs: number;

  constructor(
    @Inject(CONFIG) private readonly config: Config,
    @Inject(CLOCK) private readonly clock: Clock,
    private readonly counters: ConsoleHistoryService,
    private readonly shared: SharedReportService,
    private readonly proof: ProofService,
  ) {
    this.text = new OnceASecond(() => this.render(), clock);
    this.startedMs = clock.monotonicMs();
  }

  /** The {@link ConsoleReport} as JSON, at most a second old. */
  json(): Promise<string> {
    return this.text.get();
  }

  private async render(): Promise<string> {
    const quota = await this.shared.quota();
    const now = await this.counters.read();
    const { history } = this.counters;
    const samples = [...history.samples(now.atMs), now];
    const report: ConsoleReport = {
      at: new Date(this.clock.utcMs()).toISOString(),
      instance: { ...this.shared.instance(), upSeconds: Math.floor((now.atMs - this.startedMs) / 1000) },
      totals: { refused: now.refused, shadowRefused: this.counters.shadowRefused(), admitted: now.admitted },
      history: history.report(now.atMs),
      provenCredentials: this.proof.count(),
      provenMax: this.config.provenMax,
      clients: clientReport(this.config, samples),
      upstream: upstreamReport(samples),
      quota,
      limits: limitsOf(this.config),
    };
    return JSON.stringify(report);
  }
}

function limitsOf(config: Config): LimitsReport {
  const bucket = (requestsPerSecond: number, burst: number) => ({ requestsPerSecond, burst });
  return {
    preauth: bucket(config.preauthRps, config.preauthBurst),
    gateway: bucket(config.gatewayRps, config.gatewayBurst),
    tenant: bucket(config.tenantRps, config.tenantBurst),
    callsPerUtcDay: config.dailyQuota,
    global: bucket(config.globalRps, config.globalBurst),
    globalUnprovenShare: config.globalUnprovenShare,
    shadow: config.shadow,
  };
}
