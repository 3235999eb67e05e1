import { hash } from 'node:crypto';
import { Bookmarks } from '../request/bookmarks.js';
import type { Credential, Identity, IdentityKind } from '../request/credential.js';
import { soleAuthorization } from '../request/sole-authorization.js';
import { canonicalText, parseAuthorization, parseCredential, type Presented } from './authorization.js';
import { OVERFLOW, SecretSet, SharedTokenPlaces } from './shared-tokens.js';

/** The part of a request that its identity is made of. */
export interface IdentifiedRequest {
  readonly rawHeaders: readonly string[];
}

/** What {@link Identifier} has to know of this server. */
export interface IdentifierOptions {
  /** Shared tokens of `/v1`. */
  readonly sharedTokens: readonly string[];
  /** Addresses per shared token and UTC day with an identity of their own. */
  readonly maxAddresses: number;
  /** Further secrets of our own, which count as no credential wherever they are presented. */
  readonly otherSecrets: readonly string[];
  /** The server's own key, which a shared token works with upstream; it exists where shared tokens do. */
  readonly serverCredential: Credential | undefined;
}

/** An identity under a shared token also says whose place it takes when it is accepted. */
export interface SharedIdentity extends Identity {
  readonly kind: 'shared';
  readonly token: number;
  /** The token's own fingerprint, without an address: what limits of its own are kept under. */
  readonly tokenFingerprint: string;
  readonly addressKey: string;
}

/**
 * The ONE function from a request to its identity; the check and the mark both read its result, on `/mcp` and `/v1`
 * alike. Spec: "The `/v1` REST surface"; contract: "Credentials and identity". Nothing it reads is trusted: it names who
 * a caller claims to be, and only acceptance makes it so.
 */
export class Identifier {
  private readonly shared: SecretSet;
  private readonly ownSecrets: SecretSet;
  private readonly places: SharedTokenPlaces;
  /** By canonical text, so that neither a tenant's request nor a scanner's costs a hash; as many as are proven. */
  private readonly accepted = new Map<string, Identity>();
  private readonly tokenFingerprints: readonly string[];

  constructor(private readonly options: IdentifierOptions) {
    this.shared = new SecretSet(options.sharedTokens);
    this.ownSecrets = new SecretSet([...options.sharedTokens, ...options.otherSecrets]);
    this.tokenFingerprints = options.sharedTokens.map(tokenFingerprintOf);
    this.places = new SharedTokenPlaces(options.sharedTokens.length, options.maxAddresses);
  }

  /**
   * The identity of whoever sent the request; undefined where there is no credential that counts.
   * @param onV1 whether the path's text begins with `/v1/`, where alone shared tokens are credentials
   * @param addressKey the client address's key, as pre-auth has it
   */
  identify(request: IdentifiedRequest, onV1: boolean, addressKey: string, utcDay: number): Identity | undefined {
    const header = soleAuthorization(request.rawHeaders);
    if (header === undefined) return undefined;
    let presented: Presented | undefined;
    if (onV1 && this.options.sharedTokens.length > 0) {
      presented = parseAuthorization(header);
      const token = presented?.scheme === 'bearer' ? this.shared.indexOf(presented.text) : -1;
      if (token >= 0) return this.sharedIdentity(token, addressKey, utcDay);
    }
    presented ??= parseAuthorization(header);
    if (presented === undefined) return undefined;
    const known = this.accepted.get(presented.text);
    // A token is a credential as a bearer only; a key is one under either scheme.
    if (known !== undefined && (known.kind === 'api-key' || presented.scheme === 'bearer')) return known;
    if (this.ownSecrets.indexOf(presented.text) >= 0) return undefined;
    const credential = parseCredential(presented);
    if (credential === undefined || this.holdsSecret(credential)) return undefined;
    return new PresentedIdentity(presented.text, credential);
  }

  /** Knows an accepted credential again, until it is dropped. Shared tokens are told by their match alone. */
  accept(identity: Identity): void {
    if (identity.kind === 'shared') return;
    this.drop(identity);
    this.accepted.set(textOf(identity), identity);
    if (identity instanceof PresentedIdentity) identity.bookmarks = new Bookmarks();
  }

  /** Whether the identity's credential was accepted and has not been dropped since. */
  isAccepted(identity: Identity): boolean {
    if (identity.bookmarks !== undefined) return true;
    return identity.kind !== 'shared' && this.accepted.has(textOf(identity));
  }

  /** Lets go of a credential that is no longer proven. */
  drop(identity: Identity): void {
    if (identity.kind === 'shared') return;
    const known = this.accepted.get(textOf(identity));
    if (known instanceof PresentedIdentity) known.bookmarks = undefined;
    this.accepted.delete(textOf(identity));
  }

  /**
   * The identity that an accepted shared token really gets: the address takes its place now, and where the last place
   * went to somebody else meanwhile, it is the overflow's.
   */
  settle(identity: SharedIdentity, utcDay: number): SharedIdentity {
    const own = identity.addressKey !== OVERFLOW && this.places.take(identity.token, identity.addressKey, utcDay);
    return own || identity.addressKey === OVERFLOW ? identity : this.sharedIdentity(identity.token, OVERFLOW, utcDay);
  }

  /** A secret of ours as one half of a pair, as `curl -u TOKEN:x` makes it, would go upstream in clear. */
  private holdsSecret(credential: Credential): boolean {
    if (credential.kind !== 'api-key') return false;
    return [credential.publicKey, credential.privateKey].some((half) => this.ownSecrets.indexOf(half) >= 0);
  }

  private sharedIdentity(token: number, addressKey: string, utcDay: number): SharedIdentity {
    const key = addressKey === OVERFLOW ? OVERFLOW : this.places.keyOf(token, addressKey, utcDay);
    const secret = this.options.sharedTokens[token]!;
    const credential = this.options.serverCredential;
    if (credential === undefined) throw new Error('Shared tokens are configured without a key of the server.');
    const name = fingerprint('shared', `${secret}\n${key}`);
    return {
      kind: 'shared',
      fingerprint: name,
      tenant: name,
      credential,
      token,
      tokenFingerprint: this.tokenFingerprints[token]!,
      addressKey: key,
    };
  }
}

/** An identity whose fingerprint is taken once somebody asks for it, which for most of a scanner's nobody does. */
class PresentedIdentity implements Identity {
  /** Held as long as this very object stands for its credential among the accepted ones. */
  bookmarks: Bookmarks | undefined = undefined;
  readonly kind: Credential['kind'];
  private taken: string | undefined = undefined;

  constructor(
    /** The canonical text. */
    readonly text: string,
    readonly credential: Credential,
    private readonly subjectTenant?: string,
  ) {
    this.kind = credential.kind;
  }

  get fingerprint(): string {
    return (this.taken ??= fingerprintOf(this.credential));
  }

  get tenant(): string {
    return this.subjectTenant ?? this.fingerprint;
  }
}

function textOf(identity: Identity): string {
  return identity instanceof PresentedIdentity ? identity.text : canonicalText(identity.credential);
}

/** The identity as one of a tenant that the upstream's own answer named. */
export function withTenant(identity: Identity, tenant: string): Identity {
  return new PresentedIdentity(textOf(identity), identity.credential, tenant);
}

/**
 * The tenant of everybody's tokens who has this subject at this userinfo endpoint. Decision 0020.
 * @param subject the `sub` that the endpoint itself has told, never a token's claim
 */
export function subjectTenantOf(userinfoUrl: string, subject: string): string {
  return hash('sha256', `oauth-subject\n${userinfoUrl}\n${subject}`, 'hex');
}

/** Whether the identity came by a shared token. */
export function isShared(identity: Identity): identity is SharedIdentity {
  return identity.kind === 'shared';
}

/** The fingerprint of an API key or an OAuth token. Contract: "Credentials and identity". */
export function fingerprintOf(credential: Credential): string {
  return fingerprint(credential.kind, canonicalText(credential));
}

/** The fingerprint of a shared token by itself, without an address. */
export function tokenFingerprintOf(token: string): string {
  return fingerprint('shared', token);
}

function fingerprint(kind: IdentityKind, canonical: string): string {
  return hash('sha256', `${kind}\n${canonical}`, 'hex');
}
