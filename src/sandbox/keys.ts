import { randomBytes } from 'node:crypto';
import type { Clock } from '../clock/clock.js';
import type { Durations, Organization } from './organization.js';
import { organizationIdOf, seedOrganization } from './seed.js';

/** An API key of the sandbox. */
export interface SandboxKey {
  readonly publicKey: string;
  readonly privateKey: string;
  /** An OAuth access token for the same organization. */
  readonly token?: string;
  /** Whose that token is, as the userinfo endpoint says. */
  readonly subject?: string;
}

/** Whose a key's token is. */
export function subjectOf({ publicKey, subject = `user-of-${publicKey}` }: SandboxKey): string {
  return subject;
}

/** An OAuth access token of the sandbox. */
interface Token {
  readonly publicKey: string;
  readonly subject: string;
}

/** How a key fares at the moment. */
export type KeyStanding = 'good' | 'rejected' | 'forbidden';

/** The key that every sandbox has unless it is given others. */
export const DEFAULT_KEY: SandboxKey = {
  publicKey: 'SANDBOX1',
  privateKey: '5f0c7c8e-2d11-4b0f-9f3e-6a1f0e3b7d42',
  token: 'sandbox-oauth-access-token-0001',
  subject: 'sandbox-user-1',
};

interface Entry {
  readonly key: SandboxKey;
  standing: KeyStanding;
  organization: Organization | undefined;
}

/** The sandbox's keys, each with an organization of its own that is seeded when it is first asked for. */
export class KeyRing {
  private readonly entries = new Map<string, Entry>();
  private readonly tokens = new Map<string, Token>();

  constructor(
    keys: readonly SandboxKey[],
    private readonly clock: Clock,
    private readonly durations: Durations,
  ) {
    for (const key of keys) {
      const { publicKey, token } = key;
      this.entries.set(publicKey, { key, standing: 'good', organization: undefined });
      if (token !== undefined) this.tokens.set(token, { publicKey, subject: subjectOf(key) });
    }
  }

  /** The private half of a key that is known and not rejected. */
  privateKeyOf(publicKey: string): string | undefined {
    const entry = this.entries.get(publicKey);
    return entry === undefined || entry.standing === 'rejected' ? undefined : entry.key.privateKey;
  }

  /** Whose OAuth token it is and which key it belongs to, if that is not rejected. */
  token(text: string): Token | undefined {
    const token = this.tokens.get(text);
    return token === undefined || this.standing(token.publicKey) === 'rejected' ? undefined : token;
  }

  /** A new OAuth token, a JWT whose payload holds `claims`; nobody checks its signature. */
  issueToken(publicKey: string, subject: string, claims: object): string {
    this.entry(publicKey);
    const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
    const payload = { jti: randomBytes(8).toString('hex'), ...claims };
    const text = [part({ alg: 'RS256', typ: 'at+jwt' }), part(payload), randomBytes(32).toString('base64url')].join(
      '.',
    );
    this.tokens.set(text, { publicKey, subject });
    return text;
  }

  revokeToken(text: string): void {
    this.tokens.delete(text);
  }

  standing(publicKey: string): KeyStanding {
    return this.entry(publicKey).standing;
  }

  /** Throws where there is no such key. */
  setStanding(publicKey: string, standing: KeyStanding): void {
    this.entry(publicKey).standing = standing;
  }

  organization(publicKey: string): Organization {
    const entry = this.entry(publicKey);
    entry.organization ??= seedOrganization(organizationIdOf(publicKey), this.clock, this.durations);
    return entry.organization;
  }

  private entry(publicKey: string): Entry {
    const entry = this.entries.get(publicKey);
    if (entry === undefined) throw new Error(`The sandbox has no key ${publicKey}.`);
    return entry;
  }
}
