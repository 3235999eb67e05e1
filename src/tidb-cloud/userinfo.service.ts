import { Inject, Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import { CLOCK, type Clock } from '../clock/clock.js';
import { CONFIG, type Config } from '../config/config.js';
import { Deadline } from './deadline.adapter.js';
import { HttpTransport } from './http-transport.adapter.js';
import { readSubject, type SubjectAnswer } from './subject.js';

/** More than validations can run at once. */
const MAX_REQUESTS = 64;
const MAX_CONNECTIONS = 16;
const MAX_BODY_BYTES = 65_536;
const ONE_HOUR_MS = 3_600_000;
const LOG_INTERVAL_MS = 60_000;

/**
 * The OpenID Connect userinfo endpoint, which says whose an OAuth token is. The token goes to the configured origin and
 * to no other; nothing of the answer is kept but the subject. Decision 0020.
 */
@Injectable()
export class UserinfoService implements OnApplicationShutdown {
  private readonly logger = new Logger('Userinfo');
  private readonly url: URL | undefined;
  private readonly timeoutMs: number;
  private readonly transport: HttpTransport | undefined;
  private loggedAtMs = Number.NEGATIVE_INFINITY;

  constructor(
    @Inject(CONFIG) config: Config,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {
    this.timeoutMs = config.upstreamTimeoutMs;
    if (config.oauthUserinfoUrl === undefined) return;
    this.url = new URL(config.oauthUserinfoUrl);
    this.transport = new HttpTransport([this.url.origin], {
      connections: MAX_CONNECTIONS,
      requests: MAX_REQUESTS,
      maxBodyBytes: MAX_BODY_BYTES,
      connectTimeoutMs: Math.min(this.timeoutMs, ONE_HOUR_MS),
    });
  }

  /** Asks whose the token is, within the upstream time-out; undefined where no endpoint is configured. */
  async subjectOf(token: string, signal: AbortSignal): Promise<SubjectAnswer | undefined> {
    const { url, transport } = this;
    if (url === undefined || transport === undefined) return undefined;
    const deadline = new Deadline(this.timeoutMs, signal);
    const headers = { accept: 'application/json', 'user-agent': 'tidb-cloud-mcp', authorization: `Bearer ${token}` };
    const request = { origin: url.origin, method: 'GET', target: url.pathname + url.search, headers } as const;
    const answer = readSubject(await transport.send({ ...request, body: undefined }, deadline), this.clock.utcMs());
    deadline.dispose();
    if (answer.kind === 'unavailable' && answer.reason !== 'aborted') this.warn(answer.reason);
    return answer;
  }

  async onApplicationShutdown(): Promise<void> {
    await this.transport?.close();
  }

  private warn(reason: string): void {
    const nowMs = this.clock.monotonicMs();
    if (nowMs - this.loggedAtMs < LOG_INTERVAL_MS) return;
    this.loggedAtMs = nowMs;
    this.logger.warn(`The userinfo endpoint named no subject (${reason}): OAuth tokens cannot be validated meanwhile.`);
  }
}
