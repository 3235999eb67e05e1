import type { Surface } from '../errors/error-body.js';
import type { Identity } from '../request/credential.js';

/** A tenant whose proof was read from the control database and who has presented no credential to this instance yet. */
export interface RestoredTenant {
  readonly kind: 'restored';
  readonly fingerprint: string;
  /** The tenant as which another instance, or an earlier run, accepted the credential. */
  readonly tenant: string;
}

/** Whose a bucket is. */
export type BucketOwner = Identity | RestoredTenant;

/**
 * What the set of proven credentials needs of the tenants' buckets: a bucket follows its tenant's credentials in and
 * out, and goes only once it has refilled. Contract: "Forgetting takes away the proof and the context, never a bucket".
 */
export interface TenantBuckets {
  /**
   * Milliseconds until there is a place for the bucket that this credential would leave behind; 0 when there is one, or
   * when it leaves none since its bucket is full or its tenant has other credentials.
   */
  waitForPlace(leaving: BucketOwner, nowMs: number): number;
  /** The credential is proven (again): a bucket that its tenant left behind is its own again. */
  join(owner: BucketOwner, nowMs: number): void;
  /** The credential's proof is gone: with a tenant's last one its bucket waits until it has refilled. */
  leave(owner: BucketOwner, nowMs: number): void;
}

/**
 * What a further token of a known OAuth subject pays with at the door: its tenant's bucket, beside the address's.
 * Otherwise each rotation would buy a request. Decision 0020.
 */
export interface SubjectBuckets {
  /** Whether the subject has another proven token, or left a bucket behind that has not refilled. */
  knowsSubject(identity: Identity, nowMs: number): boolean;
  /** Whole seconds, at least 1, until the tenant's bucket has a token; 0 when it has one now. */
  secondsToToken(identity: Identity, nowMs: number): number;
  /**
   * Takes a token; answers the bucket's new time, -1 where nothing was taken. Ask {@link secondsToToken} first.
   * @param surface where the request came in, for buckets that are watched and not enforced
   */
  take(identity: Identity, nowMs: number, surface: Surface): number;
}

/** Nobody's buckets: where there are no limits, as on stdio. */
export const NO_BUCKETS: TenantBuckets & SubjectBuckets = {
  knowsSubject: () => false,
  secondsToToken: () => 0,
  take: () => -1,
  waitForPlace: () => 0,
  join: () => {},
  leave: () => {},
};
