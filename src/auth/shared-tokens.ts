import { hash, timingSafeEqual } from 'node:crypto';

/** The identity key that addresses beyond a token's places share. Contract: "Credentials and identity". */
export const OVERFLOW = 'overflow';

const digest = (text: string): Buffer => hash('sha256', text, 'buffer');

/** Secrets of this server, compared in constant time; they are known by their digests only. */
export class SecretSet {
  private readonly digests: Buffer[];

  constructor(secrets: readonly string[]) {
    this.digests = secrets.map(digest);
  }

  /** Which secret the text is, as its place in the list; -1 when it is none. Takes equally long either way. */
  indexOf(text: string): number {
    if (this.digests.length === 0) return -1;
    const presented = digest(text);
    let found = -1;
    for (let i = 0; i < this.digests.length; i += 1) if (timingSafeEqual(this.digests[i]!, presented)) found = i;
    return found;
  }
}

/**
 * The addresses that have an identity of their own under each shared token, on one UTC day. An address takes one of the
 * token's places when it is first accepted; further ones share the overflow identity.
 */
export class SharedTokenPlaces {
  private day = Number.NEGATIVE_INFINITY;
  private readonly taken: Set<string>[];

  constructor(
    tokens: number,
    private readonly maxAddresses: number,
  ) {
    this.taken = Array.from({ length: tokens }, () => new Set<string>());
  }

  /** The address's key under the token: its own while it has or can still get a place, else {@link OVERFLOW}. */
  keyOf(token: number, addressKey: string, utcDay: number): string {
    this.turnTo(utcDay);
    const places = this.taken[token]!;
    return places.has(addressKey) || places.size < this.maxAddresses ? addressKey : OVERFLOW;
  }

  /** Takes the address's place; false when the last one went to somebody else since {@link keyOf} was asked. */
  take(token: number, addressKey: string, utcDay: number): boolean {
    this.turnTo(utcDay);
    const places = this.taken[token]!;
    if (places.has(addressKey)) return true;
    if (places.size >= this.maxAddresses) return false;
    places.add(addressKey);
    return true;
  }

  /** A wall clock that steps back never reopens a day. */
  private turnTo(utcDay: number): void {
    if (utcDay <= this.day) return;
    this.day = utcDay;
    for (const places of this.taken) places.clear();
  }
}
