import { randomBytes } from 'node:crypto';
import { Inject, Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import { CLOCK, type Clock } from '../clock/clock.js';
import { CONFIG, type Config } from '../config/config.js';
import { MetricsService } from '../observability/metrics.service.js';
import type { UpstreamSession } from '../request/credential.js';
import { classify } from './classify.js';
import { Deadline } from './deadline.adapter.js';
import { listClusters } from './endpoints.js';
import { type Exchanged, runExchange, type Send } from './exchange.js';
import { HttpTransport } from './http-transport.adapter.js';
import type { MinutePlace } from './key-minute.js';
import { outcomeLabel, type Outcome, type Validation } from './outcome.js';
import { ReachLog } from './reach-log.js';
import { type SessionState, SessionStates } from './session-state.js';
import {
  parseBase,
  requestTarget,
  type UpstreamBase,
  type UpstreamHost,
  type UpstreamRequest,
} from './upstream-request.js';

const MAX_CONNECTIONS_PER_ORIGIN = 64;
const MAX_REQUESTS_PER_ORIGIN = 1024;
const MAX_BODY_BYTES = 4 * 1024 * 1024;
const ONE_HOUR_MS = 3_600_000;

/** The cheapest call that every key may make. Contract: "Credentials and identity". */
const VALIDATING_REQUEST = listClusters({ pageSize: 1 });

/** Nothing may be sent for this long. */
export type RateLimited = Extract<Outcome<unknown>, { kind: 'rate-limited' }>;

/**
 * The client of TiDB Cloud's API: HTTP Digest and bearer over pooled connections, with one time-out over each whole
 * exchange, and typed outcomes in place of errors. Stores nothing of a credential but Digest nonces and the upstream's
 * own limit, both with the session they belong to.
 */
@Injectable()
export class TidbCloudService implements OnApplicationShutdown {
  private readonly bases: Readonly<Record<UpstreamHost, UpstreamBase>>;
  private readonly timeoutMs: number;
  private readonly transport: HttpTransport;
  private readonly states = new SessionStates();
  private readonly reach: Readonly<Record<UpstreamHost, ReachLog>>;

  constructor(
    @Inject(CONFIG) config: Config,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(MetricsService) private readonly metrics: MetricsService,
  ) {
    this.bases = { serverless: parseBase(config.serverlessApiUrl), iam: parseBase(config.iamApiUrl) };
    const logger = new Logger('TidbCloud');
    const reach = ({ origin }: UpstreamBase) => new ReachLog(new URL(origin).host, logger);
    this.reach = { serverless: reach(this.bases.serverless), iam: reach(this.bases.iam) };
    this.timeoutMs = config.upstreamTimeoutMs;
    this.transport = new HttpTransport([this.bases.serverless.origin, this.bases.iam.origin], {
      connections: MAX_CONNECTIONS_PER_ORIGIN,
      requests: MAX_REQUESTS_PER_ORIGIN,
      maxBodyBytes: MAX_BODY_BYTES,
      connectTimeoutMs: Math.min(this.timeoutMs, ONE_HOUR_MS),
    });
  }

  /**
   * Asks TiDB Cloud whether it accepts the session's credential. Always sent, whatever is known of the upstream's own
   * limit. A 403 is an acceptance only in TiDB Cloud's own words and only to a request that carried the credential; all
   * that is neither yes nor no is `unavailable`. Contract: "Credentials and identity".
   */
  async validate(session: UpstreamSession, signal: AbortSignal): Promise<Validation> {
    const outcome = await this.exchange(session, VALIDATING_REQUEST, signal);
    switch (outcome.kind) {
      case 'ok':
      case 'forbidden':
        return { kind: 'accepted' };
      case 'rejected':
        return { kind: 'rejected' };
      case 'rate-limited':
        return { kind: 'unavailable', retryAfterSeconds: outcome.retryAfterSeconds };
      default:
        return { kind: 'unavailable' };
    }
  }

  /**
   * Sends one request on the session's behalf; `value` is the parsed JSON, or undefined for a 204. Nothing is sent while
   * a limit that TiDB Cloud has announced to this credential lasts.
   * @param share one of many callers behind the session's key, who may take at most half of what its minute has left
   */
  async request(
    session: UpstreamSession,
    request: UpstreamRequest,
    signal: AbortSignal,
    share?: string,
  ): Promise<Outcome<unknown>> {
    const place = this.reserve(session, share);
    return 'kind' in place ? place : this.send(session, place, request, signal);
  }

  /** Takes the place of one request in the minute that TiDB Cloud allows the key, or says how long there is none. */
  reserve(session: UpstreamSession, share?: string): MinutePlace | RateLimited {
    const place = this.states.of(session).minute.take(this.clock.monotonicMs(), share);
    return typeof place === 'number' ? { kind: 'rate-limited', retryAfterSeconds: place } : place;
  }

  /** Sends the one request whose place was reserved, and ends the place. */
  async send(
    session: UpstreamSession,
    place: MinutePlace,
    request: UpstreamRequest,
    signal: AbortSignal,
  ): Promise<Outcome<unknown>> {
    let counted = false;
    try {
      return await this.exchange(session, request, signal, () => (counted = true));
    } finally {
      place.end(counted);
    }
  }

  async onApplicationShutdown(): Promise<void> {
    await this.transport.close();
  }

  private async exchange(
    session: UpstreamSession,
    request: UpstreamRequest,
    signal: AbortSignal,
    onAnswered?: () => void,
  ): Promise<Outcome<unknown>> {
    const target = requestTarget(this.bases[request.host], request);
    if (target === undefined) return { kind: 'invalid', message: 'This cannot be part of a TiDB Cloud address.' };
    const startedMs = this.clock.monotonicMs();
    const deadline = new Deadline(this.timeoutMs, signal);
    const { credential } = session;
    const state = this.states.of(session);
    const keeper = state.hosts[request.host];
    const send = this.sender(request, target, deadline);
    const line = { method: request.method, uri: target };
    const exchanged = await runExchange({ credential, keeper, request: line, send, newCnonce });
    deadline.dispose();
    const outcome = classify(exchanged, credential, this.clock.utcMs(), request.body !== undefined);
    keeper.learn(outcome, exchanged.kind === 'answered' ? exchanged.nonce : undefined);
    this.followLimit(state, exchanged, outcome);
    this.reach[request.host].note(outcome, exchanged, this.clock.monotonicMs(), request === VALIDATING_REQUEST);
    if (exchanged.kind === 'answered') onAnswered?.();
    this.metrics.observeUpstream(outcomeLabel(outcome), (this.clock.monotonicMs() - startedMs) / 1000);
    return outcome;
  }

  private followLimit({ minute }: SessionState, exchanged: Exchanged, outcome: Outcome<unknown>): void {
    const nowMs = this.clock.monotonicMs();
    if (outcome.kind === 'rate-limited') minute.exhausted(outcome.retryAfterSeconds, nowMs);
    // An answer to a probe without a credential says nothing about the credential's minute.
    else if (exchanged.kind === 'answered' && exchanged.proof !== 'none') {
      minute.learn(exchanged.answer.headers, nowMs, this.clock.utcMs());
    }
  }

  private sender(request: UpstreamRequest, target: string, deadline: Deadline): Send {
    const { origin } = this.bases[request.host];
    const { method } = request;
    const json = request.body === undefined ? undefined : JSON.stringify(request.body);
    return (authorization) => {
      const headers: Record<string, string> = { accept: 'application/json', 'user-agent': 'tidb-cloud-mcp' };
      if (authorization !== undefined) headers['authorization'] = authorization;
      // The unsigned probe asks for a challenge alone: without a body there is nothing that could be carried out.
      const body = authorization === undefined ? undefined : json;
      if (body !== undefined) headers['content-type'] = 'application/json';
      return this.transport.send({ origin, method, target, headers, body }, deadline);
    };
  }
}

/** 128 bits, printable without quoting. */
function newCnonce(): string {
  return randomBytes(16).toString('base64url');
}
