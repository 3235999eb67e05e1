import type { Identity } from '../request/credential.js';

/** Hears that TiDB Cloud rejected a credential in the middle of an operation. */
export interface RejectionListener {
  /** Takes away the proof and the context of a caller's own credential; buckets and counts stay. */
  forgetRejected(identity: Identity): void;
}

/** Injection token of the {@link RejectionListener}; unbound where nothing is kept of a credential (stdio). */
export const REJECTION_LISTENER = Symbol('RejectionListener');
