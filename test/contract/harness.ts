import { Logger } from '@nestjs/common';
import { afterEach, beforeEach } from 'vitest';
import type { Clock } from '../../src/clock/clock.js';
import type { Config } from '../../src/config/config.js';
import type { MetricsService } from '../../src/observability/metrics.service.js';
import type { UpstreamSession } from '../../src/request/credential.js';
import { type Sandbox, type SandboxOptions, startSandbox } from '../../src/sandbox/sandbox.adapter.js';
import { createCluster, listClusters } from '../../src/tidb-cloud/endpoints.js';
import { TidbCloudService } from '../../src/tidb-cloud/tidb-cloud.service.js';

// An upstream that fails on purpose would be told in the log.
Logger.overrideLogger(false);

/** A clock that stands still until it is moved. */
export class HandClock implements Clock {
  private ms = 0;
  private readonly startUtcMs = Date.UTC(2026, 10, 29, 12, 0, 30);

  monotonicMs(): number {
    return this.ms;
  }

  utcMs(): number {
    return this.startUtcMs + this.ms;
  }

  advanceSeconds(seconds: number): void {
    this.ms += seconds * 1000;
  }
}

/** A client over real sockets, with what it counted. */
export interface Harness {
  readonly client: TidbCloudService;
  /** The outcome labels, one an exchange. */
  readonly observed: string[];
}

export function createClient(
  urls: { serverlessUrl: string; iamUrl: string },
  clock: Clock,
  upstreamTimeoutMs = 5000,
): Harness {
  const observed: string[] = [];
  const metrics = { observeUpstream: (outcome: string) => observed.push(outcome) } as unknown as MetricsService;
  const config = { serverlessApiUrl: urls.serverlessUrl, iamApiUrl: urls.iamUrl, upstreamTimeoutMs } as Config;
  return { client: new TidbCloudService(config, clock, metrics), observed };
}

/** A new session of the sandbox's first key. */
export function keySession(sandbox: Sandbox, privateKey = sandbox.privateKey): UpstreamSession {
  return { credential: { kind: 'api-key', publicKey: sandbox.publicKey, privateKey } };
}

/** A new session of the first key's OAuth token. */
export function tokenSession(sandbox: Sandbox, token = sandbox.token ?? ''): UpstreamSession {
  return { credential: { kind: 'oauth', token } };
}

/** A signal of a caller who stays. */
export function staying(): AbortSignal {
  return new AbortController().signal;
}

/** A request that reads, and one that changes something. */
export const LIST = listClusters({ pageSize: 2 });
export const CREATE = createCluster({ displayName: 'new-cluster', region: { name: 'regions/aws-us-east-1' } });

/** A client in front of a sandbox, both made anew by each test and closed after it. */
export interface ClientStage extends Harness {
  readonly clock: HandClock;
  readonly sandbox: Sandbox;
  start(options?: SandboxOptions, timeoutMs?: number): Promise<void>;
  /** What the sandbox has seen: schemes and statuses, in order. */
  seen(): string[];
}

/** The stage of all tests of the file that calls this; a test begins with its `start`. */
export function clientStage(): ClientStage {
  let clock: HandClock;
  let sandbox: Sandbox;
  let harness: Harness;
  beforeEach(() => {
    clock = new HandClock();
  });
  afterEach(async () => {
    await harness.client.onApplicationShutdown();
    await sandbox.close();
  });
  return {
    get clock() {
      return clock;
    },
    get sandbox() {
      return sandbox;
    },
    get client() {
      return harness.client;
    },
    get observed() {
      return harness.observed;
    },
    async start(options = {}, timeoutMs) {
      sandbox = await startSandbox({ clock, ...options });
      harness = createClient(sandbox, clock, timeoutMs);
    },
    seen: () => sandbox.requests.map(({ scheme, status }) => `${scheme} ${status}`),
  };
}
