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
  /** SHA-256 over kind and canonical credential, in lower-case hex: the tenant's name everywhere in this server. */
  readonly fingerprint: string;
  /** What the upstream is asked with: the caller's own, or the server's key for a shared token. */
  readonly credential: Credential;
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
}
