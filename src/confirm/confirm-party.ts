import type { z } from 'zod';
import type { AppError } from '../errors/app-error.js';
import type { MinutePlace } from '../tidb-cloud/key-minute.js';
import type { Outcome } from '../tidb-cloud/outcome.js';
import type { UpstreamRequest } from '../tidb-cloud/upstream-request.js';

/** The outcomes of a performing request that changed nothing for certain and are told as errors. */
export type NothingDone = Extract<Outcome<unknown>, { kind: 'rate-limited' | 'rejected' | 'unavailable' }>;

/** Who asks for a preflight or a confirm, and the ways to TiDB Cloud on that caller's behalf. */
export interface ConfirmParty {
  /** What a confirmation is bound to, 64 hex digits: the tenant, or the shared token without the address. */
  readonly binding: string;
  /** The tenant, for telemetry alone. */
  readonly tenant: string;
  /** Aborted when nobody waits for the answer any more. */
  readonly signal: AbortSignal;
  /** @throws AppError for every outcome that is no readable answer */
  ask<T>(request: UpstreamRequest, answer: z.ZodType<T>): Promise<T>;
  /**
   * Takes the place of one request in what TiDB Cloud's own limit leaves.
   * @throws AppError UPSTREAM_RATE_LIMITED where there is none
   */
  reserve(): MinutePlace;
  /** Sends one request in a reserved place and sees it through, whether or not the caller stays. */
  perform(place: MinutePlace, request: UpstreamRequest): Promise<Outcome<unknown>>;
  /** What a caller is told of an outcome that changed nothing. */
  errorOf(outcome: NothingDone): AppError;
}
