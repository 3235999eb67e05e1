import { Inject, Injectable, Logger, Optional } from '@nestjs/common';
import type { z } from 'zod';
import { CLOCK, type Clock } from '../clock/clock.js';
import type { MinutePlace } from '../tidb-cloud/key-minute.js';
import type { Outcome } from '../tidb-cloud/outcome.js';
import { TidbCloudService } from '../tidb-cloud/tidb-cloud.service.js';
import type { UpstreamRequest } from '../tidb-cloud/upstream-request.js';
import type { Caller } from './operation.js';
import { outcomeError, unreadableAnswer } from './outcome-error.js';
import { REJECTION_LISTENER, type RejectionListener } from './rejection-listener.js';

const SERVER_KEY_LOG_INTERVAL_MS = 60_000;

/** The way of every operation to TiDB Cloud: asks, reads the answer, and turns every other outcome into an error. */
@Injectable()
export class OperationUpstream {
  private readonly logger = new Logger('Operations');
  private serverKeyLoggedAtMs = Number.NEGATIVE_INFINITY;

  constructor(
    @Inject(TidbCloudService) private readonly tidbCloud: TidbCloudService,
    @Inject(CLOCK) private readonly clock: Clock,
    @Optional() @Inject(REJECTION_LISTENER) private readonly rejections?: RejectionListener,
  ) {}

  /**
   * One request on the caller's behalf, its answer read by a lenient schema.
   * @throws AppError for every outcome that is no such answer; a rejection is told to the listener before
   */
  async ask<T>(caller: Caller, request: UpstreamRequest, answer: z.ZodType<T>): Promise<T> {
    const { identity, session } = caller.tenant;
    const outcome = await this.tidbCloud.request(session, request, caller.signal, shareOf(caller));
    if (outcome.kind === 'rejected') this.noteRejection(caller);
    if (outcome.kind !== 'ok') throw outcomeError(outcome, identity.kind);
    const parsed = answer.safeParse(outcome.value);
    if (!parsed.success) throw unreadableAnswer();
    return parsed.data;
  }

  /**
   * Takes the place of one request in what TiDB Cloud's own limit leaves.
   * @throws AppError UPSTREAM_RATE_LIMITED where there is none
   */
  reserve(caller: Caller): MinutePlace {
    const { identity, session } = caller.tenant;
    const place = this.tidbCloud.reserve(session, shareOf(caller));
    if ('kind' in place) throw outcomeError(place, identity.kind);
    return place;
  }

  /** Sends one request in a reserved place and sees it through though the caller may leave: its outcome is wanted. */
  async perform(caller: Caller, place: MinutePlace, request: UpstreamRequest): Promise<Outcome<unknown>> {
    const outcome = await this.tidbCloud.send(caller.tenant.session, place, request, new AbortController().signal);
    if (outcome.kind === 'rejected') this.noteRejection(caller);
    return outcome;
  }

  private noteRejection({ tenant: { identity } }: Caller): void {
    // Behind a shared token the rejected key is the server's own: forgetting its callers would mend nothing.
    if (identity.kind !== 'shared') {
      this.rejections?.forgetRejected(identity);
      return;
    }
    const nowMs = this.clock.monotonicMs();
    if (nowMs - this.serverKeyLoggedAtMs < SERVER_KEY_LOG_INTERVAL_MS) return;
    this.serverKeyLoggedAtMs = nowMs;
    this.logger.error('TiDB Cloud rejects the key in TIDB_CLOUD_PUBLIC_KEY: calls under a shared token fail.');
  }
}

/** Behind a shared token many callers use one key: none of them may use up its minute. */
function shareOf({ tenant: { identity } }: Caller): string | undefined {
  return identity.kind === 'shared' ? identity.fingerprint : undefined;
}
