import { Inject, Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { SchedulerRegistry } from '@nestjs/schedule';
import { CLOCK, type Clock } from '../clock/clock.js';
import { CONFIG, type Config } from '../config/config.js';
import { MetricsService } from '../observability/metrics.service.js';
import type { Limit } from '../request/request-context.js';
import { History, SAMPLE_MS, type Sample } from './history.js';

/** Looks at the counters every few seconds, so that a page that is opened now shows what was before. */
@Injectable()
export class ConsoleHistoryService implements OnApplicationBootstrap {
  readonly history = new History();

  constructor(
    @Inject(CONFIG) private readonly config: Config,
    @Inject(CLOCK) private readonly clock: Clock,
    private readonly metrics: MetricsService,
    private readonly registry: SchedulerRegistry,
  ) {}

  /** Without an admin token the console is off, and nothing is sampled for it. */
  async onApplicationBootstrap(): Promise<void> {
    if (this.config.adminToken === undefined) return;
    await this.sample();
    this.registry.addInterval('console-sample', setInterval(() => void this.sample(), SAMPLE_MS).unref());
  }

  /** Keeps the counters of this moment. */
  async sample(): Promise<void> {
    this.history.add(await this.read());
  }

  /** What layers in shadow mode would have refused so far. */
  shadowRefused(): Record<Limit, number> {
    return this.metrics.snapshot().shadowRefusals;
  }

  /** The counters of this moment. */
  async read(): Promise<Sample> {
    const latency = await this.metrics.upstreamLatency();
    const { refusals, admitted, clientIp, upstream } = this.metrics.snapshot();
    const calls = Object.values(admitted).reduce((sum, count) => sum + count, 0);
    return { atMs: this.clock.monotonicMs(), refused: refusals, admitted: calls, clientIp, upstream, latency };
  }
}
