import type { TenantBuckets } from '../auth/tenant-buckets.js';
import type { Identity } from '../request/credential.js';
import { BucketStore } from './bucket-store.js';
import type { BucketRate } from './token-bucket.js';

/** How many credentials can be proven at once; shared-token identities are counted apart from tenants' own. */
export interface TenantLayerOptions {
  readonly rate: BucketRate;
  /** The rate of a tenant that has one of its own; only looks up, since every request asks. */
  readonly rateOf?: (fingerprint: string) => BucketRate | undefined;
  readonly maxProven: number;
  readonly maxShared: number;
}

/** Buckets of proven credentials, and those that a credential left behind before they had refilled. */
interface Pool {
  readonly active: BucketStore;
  readonly waiting: BucketStore;
}

/**
 * Layer 2: requests per second of one proven credential. A bucket outlives the proof until it has refilled, so neither
 * eviction nor proving again buys a fresh one. Spec: "The four layers"; contract: "Credentials and identity".
 */
export class TenantLayer implements TenantBuckets {
  private readonly own: Pool;
  private readonly shared: Pool;

  constructor(private readonly options: TenantLayerOptions) {
    const pool = (max: number): Pool => ({
      active: new BucketStore(options.rate, max),
      waiting: new BucketStore(options.rate, 2 * max),
    });
    this.own = pool(options.maxProven);
    this.shared = pool(Math.max(1, options.maxShared));
  }

  /** Milliseconds until the credential's bucket has a token; 0 when it has one. */
  wait(identity: Identity, nowMs: number): number {
    return this.poolOf(identity).active.wait(identity.fingerprint, nowMs, this.rateOf(identity));
  }

  /** Takes a token; answers the bucket's new time, for {@link giveBack}. Ask {@link wait} first. */
  take(identity: Identity, nowMs: number): number {
    return this.poolOf(identity).active.take(identity.fingerprint, nowMs, this.rateOf(identity));
  }

  /** Gives the token back that {@link take} took. */
  giveBack(identity: Identity, takenFullAtMs: number, nowMs: number): void {
    this.poolOf(identity).active.giveBack(identity.fingerprint, takenFullAtMs, nowMs, this.rateOf(identity));
  }

  /** See {@link TenantBuckets.waitForPlace}. */
  waitForPlace(leaving: Identity, nowMs: number): number {
    const { active, waiting } = this.poolOf(leaving);
    const fullAt = active.fullAtMs(leaving.fingerprint);
    if (fullAt === undefined || fullAt <= nowMs || waiting.hasRoom(nowMs)) return 0;
    return Math.max(1, waiting.firstRefillMs(nowMs));
  }

  /** See {@link TenantBuckets.join}. */
  join(identity: Identity, nowMs: number): void {
    const { active, waiting } = this.poolOf(identity);
    const fullAt = waiting.delete(identity.fingerprint);
    if (fullAt !== undefined && fullAt > nowMs) active.insert(identity.fingerprint, fullAt, nowMs);
  }

  /** See {@link TenantBuckets.leave}. */
  leave(identity: Identity, nowMs: number): void {
    const { active, waiting } = this.poolOf(identity);
    const fullAt = active.delete(identity.fingerprint);
    if (fullAt === undefined || fullAt <= nowMs) return;
    if (waiting.hasRoom(nowMs)) waiting.insert(identity.fingerprint, fullAt, nowMs);
  }

  /** Buckets that hold something back now. */
  count(nowMs: number): number {
    return [this.own, this.shared].reduce((sum, { active, waiting }) => {
      active.prune(nowMs);
      waiting.prune(nowMs);
      return sum + active.size + waiting.size;
    }, 0);
  }

  /** Whole tokens in the credential's bucket now, and the bucket's rate; what is told before a refusal. */
  level(identity: Identity, nowMs: number): { tokens: number; rate: BucketRate } {
    const rate = this.rateOf(identity);
    const fullAt = this.poolOf(identity).active.fullAtMs(identity.fingerprint) ?? nowMs;
    const missing = Math.max(0, fullAt - nowMs) / rate.intervalMs;
    return { tokens: Math.max(0, Math.floor(rate.burst - missing)), rate };
  }

  private rateOf({ fingerprint }: Identity): BucketRate {
    return this.options.rateOf?.(fingerprint) ?? this.options.rate;
  }

  private poolOf(identity: Identity): Pool {
    return identity.kind === 'shared' ? this.shared : this.own;
  }
}
