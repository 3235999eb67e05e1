import { hash } from 'node:crypto';
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
  /** Ceiling of the remembered spellings of proven credentials. */
  readonly maxRemembered: number;
}

/** An identity under a shared token also says whose place it takes when it is accepted. */
export interface SharedIdentity extends Identity {
  readonly kind: 'shared';
  readonly token: number;
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
  /** Headers of proven credentials, so that their requests cost a look-up instead of a parse and a hash. */
  private readonly remembered = new Map<string, Identity>();
  private readonly spellings = new Map<string, string>();

  constructor(private readonly options: IdentifierOptions) {
    this.shared = new SecretSet(options.sharedTokens);
    this.ownSecrets = new SecretSet([...options.sharedTokens, ...options.otherSecrets]);
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
    const known = this.remembered.get(header);
    if (known !== undefined) return known;
    presented ??= parseAuthorization(header);
    if (presented === undefined) return undefined;
    if (this.ownSecrets.indexOf(presented.text) >= 0) return undefined;
    const credential = parseCredential(presented);
    return credential && { kind: credential.kind, fingerprint: fingerprintOf(credential), credential };
  }

  /** Remembers how an accepted credential was spelled; one spelling each, the latest. Shared tokens are never. */
  remember(request: IdentifiedRequest, identity: Identity): void {
    const header = soleAuthorization(request.rawHeaders);
    if (header === undefined || identity.kind === 'shared' || this.remembered.has(header)) return;
    this.drop(identity);
    if (this.remembered.size >= this.options.maxRemembered) return;
    this.remembered.set(header, identity);
    this.spellings.set(identity.fingerprint, header);
  }

  /** Lets go of the remembered spelling of a credential that is no longer proven. */
  drop(identity: Identity): void {
    const header = this.spellings.get(identity.fingerprint);
    if (header === undefined) return;
    this.spellings.delete(identity.fingerprint);
    this.remembered.delete(header);
  }

  /**
   * The identity that an accepted shared token really gets: the address takes its place now, and where the last place
   * went to somebody else meanwhile, it is the overflow's.
   */
  settle(identity: SharedIdentity, utcDay: number): SharedIdentity {
    const own = identity.addressKey !== OVERFLOW && this.places.take(identity.token, identity.addressKey, utcDay);
    return own || identity.addressKey === OVERFLOW ? identity : this.sharedIdentity(identity.token, OVERFLOW, utcDay);
  }

  private sharedIdentity(token: number, addressKey: string, utcDay: number): SharedIdentity {
    const key = addressKey === OVERFLOW ? OVERFLOW : this.places.keyOf(token, addressKey, utcDay);
    const secret = this.options.sharedTokens[token]!;
    const credential = this.options.serverCredential;
    if (credential === undefined) throw new Error('Shared tokens are configured without a key of the server.');
    return {
      kind: 'shared',
      fingerprint: fingerprint('shared', `${secret}\n${key}`),
      credential,
      token,
      addressKey: key,
    };
  }
}

/** Whether the identity came by a shared token. */
export function isShared(identity: Identity): identity is SharedIdentity {
  return identity.kind === 'shared';
}

/** The fingerprint of an API key or an OAuth token. Contract: "Credentials and identity". */
export function fingerprintOf(credential: Credential): string {
  return fingerprint(credential.kind, canonicalText(credential));
}

function fingerprint(kind: IdentityKind, canonical: string): string {
  return hash('sha256', `${kind}\n${canonical}`, 'hex');
}
