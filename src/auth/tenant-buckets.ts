import type { Identity } from '../request/credential.js';

/**
 * What the set of proven credentials needs of the tenants' buckets: a bucket follows its credential in and out, and
 * goes only once it has refilled. Contract: "Forgetting takes away the proof and the context, never a bucket".
 */
export interface TenantBuckets {
  /**
   * Milliseconds until there is a place for the bucket that this credential would leave behind; 0 when there is one, or
   * when it leaves none since its bucket is full.
   */
  waitForPlace(leaving: Identity, nowMs: number): number;
  /** The credential is proven (again): a bucket that it left behind is its own again. */
  join(identity: Identity, nowMs: number): void;
  /** The credential's proof is gone: its bucket waits until it has refilled. */
  leave(identity: Identity, nowMs: number): void;
}

/** Nobody's buckets: where there are no limits, as on stdio. */
export const NO_BUCKETS: TenantBuckets = { waitForPlace: () => 0, join: () => {}, leave: () => {} };
