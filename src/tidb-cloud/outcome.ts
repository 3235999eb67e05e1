/** Why TiDB Cloud could not be asked, or gave no answer that counts. */
export type UnavailableReason =
  /** No complete answer within the upstream time-out. */
  | 'timeout'
  /** No connection, a broken one, or no room to wait for one. */
  | 'connection'
  /** A status that says nothing about the request: 5xx, a redirect, an answer from something that is not the API. */
  | 'status'
  /** A body that is too large, not JSON, or missing. */
  | 'body'
  /** The caller went away. */
  | 'aborted';

/** {@link Outcome} of an exchange that ended without an answer that counts. */
export interface Unavailable {
  readonly kind: 'unavailable';
  readonly reason: UnavailableReason;
  /**
   * Whether the request may have been carried out all the same: false only where it surely was not, because nothing that
   * carries authentication was written, or because all that was written was answered 401.
   */
  readonly sent: boolean;
}

/**
 * What became of one exchange with TiDB Cloud. A `message` is ours or scrubbed: it holds no secret, no e-mail address
 * and never a raw upstream body. Contract: "Credentials and identity".
 */
export type Outcome<T> =
  | { readonly kind: 'ok'; readonly value: T }
  /** TiDB Cloud rejected the credential itself: the one outcome that forgets it. */
  | { readonly kind: 'rejected' }
  /** The credential is good but may not do this. */
  | { readonly kind: 'forbidden'; readonly message: string }
  | { readonly kind: 'not-found' }
  /** TiDB Cloud refused the input. */
  | { readonly kind: 'invalid'; readonly message: string }
  /** The target's present state does not allow it. */
  | { readonly kind: 'conflict'; readonly message: string }
  /** TiDB Cloud's own limit; whole seconds, at least 1. */
  | { readonly kind: 'rate-limited'; readonly retryAfterSeconds: number }
  | Unavailable;

/**
 * What TiDB Cloud says of a credential. `unavailable` is neither yes nor no: the credential stays as proven or unproven
 * as it was.
 */
export type Validation =
  | { readonly kind: 'accepted' }
  | { readonly kind: 'rejected' }
  | { readonly kind: 'unavailable'; readonly retryAfterSeconds?: number };

/** The `outcome` label of `tidb_mcp_upstream_requests_total`: one of a dozen fixed words. */
export function outcomeLabel(outcome: Outcome<unknown>): string {
  const word = outcome.kind === 'unavailable' ? `unavailable_${outcome.reason}` : outcome.kind;
  return word.replace('-', '_');
}
