import type { Bookmarks } from './bookmarks.js';

/** What a caller brought and what goes upstream: a key pair for HTTP Digest, or an OAuth access token. */
export type Credential =
  | { readonly kind: 'api-key'; readonly publicKey: string; readonly privateKey: string }
  | { readonly kind: 'oauth'; readonly token: string };

/** How an identity came about; a shared token is not the caller's own and never goes upstream. */
export type IdentityKind = 'api-key' | 'oauth' | 'shared';

/**
 * Who a request claims to be: the one result of the one function that looks at the credential (`auth/identify`), read
 * by the check and by the mark alike.
 */
export interface Identity {
  readonly kind: IdentityKind;
  /** SHA-256 over kind and canonical credential, in lower-case hex: what the credential is proven and forgotten by. */
  readonly fingerprint: string;
  /**
   * The tenant's name everywhere in this server: the fingerprint, or once an OAuth token has been accepted and its
   * subject is known, the same for all tokens of the subject.
   */
  readonly tenant: string;
  /** What the upstream is asked with: the caller's own, or the server's key for a shared token. */
  readonly credential: Credential;
  /** What spares the stores a search; only the identity that stands for an accepted credential has some. */
  readonly bookmarks?: Bookmarks | undefined;
}

/**
 * The handle under which the upstream client keeps what it knows of one accepted credential: Digest nonces per host and
 * the upstream's own limit. It lives and dies with the context that holds it.
 */
export interface UpstreamSession {
  readonly credential: Credential;
}

/** What authentication hands to an operation. */
export interface TenantContext {
  readonly identity: Identity;
  readonly session: UpstreamSession;
  /** A token of an OAuth subject that was known before: whoever proves it pays at its tenant's bucket too. */
  readonly isFurtherToken?: boolean;
}
