import type { Clock } from '../clock/clock.js';
import type { Durations, Organization } from './organization.js';
import { organizationIdOf, seedOrganization } from './seed.js';

/** An API key of the sandbox. */
export interface SandboxKey {
  readonly publicKey: string;
  readonly privateKey: string;
  /** An OAuth access token for the same organization. */
  readonly token?: string;
}

/** How a key fares at the moment. */
export type KeyStanding = 'good' | 'rejected' | 'forbidden';

/** The key that every sandbox has unless it is given others. */
export const DEFAULT_KEY: SandboxKey = {
  publicKey: 'SANDBOX1',
  privateKey: '5f0c7c8e-2d11-4b0f-9f3e-6a1f0e3b7d42',
  token: 'sandbox-oauth-access-token-0001',
};

interface Entry {
  readonly key: SandboxKey;
  standing: KeyStanding;
  organization: Organization | undefined;
}

/** The sandbox's keys, each with an organization of its own that is seeded when it is first asked for. */
export class KeyRing {
  private readonly entries = new Map<string, Entry>();

  constructor(
    keys: readonly SandboxKey[],
    private readonly clock: Clock,
    private readonly durations: Durations,
  ) {
    for (const key of keys) this.entries.set(key.publicKey, { key, standing: 'good', organization: undefined });
  }

  /** The private half of a key that is known and not rejected. */
  privateKeyOf(publicKey: string): string | undefined {
    const entry = this.entries.get(publicKey);
    return entry === undefined || entry.standing === 'rejected' ? undefined : entry.key.privateKey;
  }

  /** The public half of the key that an OAuth token belongs to, if that is not rejected. */
  publicKeyOfToken(token: string): string | undefined {
    for (const { key, standing } of this.entries.values()) {
      if (key.token === token && standing !== 'rejected') return key.publicKey;
    }
    return undefined;
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
