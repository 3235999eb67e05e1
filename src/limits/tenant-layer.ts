import type { BucketOwner, SubjectBuckets, TenantBuckets } from '../auth/tenant-buckets.js';
import type { Identity } from '../request/credential.js';
import { BucketStore } from './bucket-store.js';
import { type BucketRate, retryAfterSeconds } from './token-bucket.js';

/** How many credentials can be proven at once; shared-token identities are counted apart from tenants' own. */
export interface TenantLayerOptions {
  readonly rate: BucketRate;
  /** The rate of a tenant that has one of its own; only looks up, since every request asks. */
  readonly rateOf?: (tenant: string) => BucketRate | undefined;
  readonly maxProven: number;
  readonly maxShared: number;
}

/** Buckets of tenants with proven credentials, and those that their last one left behind before they had refilled. */
interface Pool {
  readonly active: BucketStore;
  readonly waiting: BucketStore;
}

/**
 * Layer 2: requests per second of one tenant: a proven credential, or all tokens of one OAuth subject. A bucket
 * outlives the proof until it has refilled, so neither eviction nor proving again nor rotating buys a fresh one. Spec:
 * "The four layers"; contract: "Credentials and identity".
 */
export class TenantLayer implements TenantBuckets, SubjectBuckets {
  private readonly own: Pool;
  private readonly shared: Pool;
  /** How many proven credentials each tenant has whose credentials come and go; as many as are proven. */
  private readonly members = new Map<string, number>();

  constructor(private readonly options: TenantLayerOptions) {
    const pool = (max: number): Pool => ({
      // A proven tenant comes back: its bucket goes with its proof, and until then is neither dropped nor made anew.
      active: new BucketStore(options.rate, max, 0),
      waiting: new BucketStore(options.rate, 2 * max),
    });
    this.own = pool(options.maxProven);
    this.shared = pool(Math.max(1, options.maxShared));
  }

  /** Milliseconds until the tenant's bucket has a token; 0 when it has one. */
  wait(identity: Identity, nowMs: number): number {
    return this.poolOf(identity).active.wait(identity.tenant, nowMs, this.rateOf(identity), identity.bookmarks);
  }

  /** Takes a token; answers the bucket's new time, for {@link giveBack}. Ask {@link wait} first. */
  take(identity: Identity, nowMs: number): number {
    return this.poolOf(identity).active.take(identity.tenant, nowMs, this.rateOf(identity), identity.bookmarks);
  }

  /** Gives the token back that {@link take} took. */
  giveBack(identity: Identity, takenFullAtMs: number, nowMs: number): void {
    this.poolOf(identity).active.giveBack(identity.tenant, takenFullAtMs, nowMs, this.rateOf(identity));
  }

  /** See {@link TenantBuckets.waitForPlace}. */
  waitForPlace(leaving: BucketOwner, nowMs: number): number {
    if ((this.members.get(leaving.tenant) ?? 0) > 1) return 0;
    const { active, waiting } = this.poolOf(leaving);
    const fullAt = active.fullAtMs(leaving.tenant);
    if (fullAt === undefined || fullAt <= nowMs || waiting.hasRoom(nowMs)) return 0;
    return Math.max(1, waiting.firstRefillMs(nowMs));
  }

  /** See {@link SubjectBuckets.knowsSubject}. */
  knowsSubject({ tenant, fingerprint }: Identity, nowMs: number): boolean {
    if (tenant === fingerprint) return false;
    return this.members.has(tenant) || (this.own.waiting.fullAtMs(tenant) ?? nowMs) > nowMs;
  }

  /** See {@link SubjectBuckets.secondsToToken}. */
  secondsToToken(identity: Identity, nowMs: number): number {
    const wait = this.wait(identity, nowMs);
    return wait === 0 ? 0 : retryAfterSeconds(wait);
  }

  /** See {@link TenantBuckets.join}. */
  join(owner: BucketOwner, nowMs: number): void {
    this.countMember(owner, 1);
    const { active, waiting } = this.poolOf(owner);
    const fullAt = waiting.delete(owner.tenant);
    if (fullAt !== undefined && fullAt > nowMs) active.insert(owner.tenant, fullAt, nowMs);
  }

  /** See {@link TenantBuckets.leave}. */
  leave(owner: BucketOwner, nowMs: number): void {
    if (this.countMember(owner, -1) > 0) return;
    const { active, waiting } = this.poolOf(owner);
    const fullAt = active.delete(owner.tenant);
    if (fullAt === undefined || fullAt <= nowMs) return;
    if (waiting.hasRoom(nowMs)) waiting.insert(owner.tenant, fullAt, nowMs);
  }

  /** Buckets that hold something back now. */
  count(nowMs: number): number {
    return [this.own, this.shared].reduce((sum, { active, waiting }) => {
      waiting.prune(nowMs);
      return sum + active.countUnfilled(nowMs) + waiting.size;
    }, 0);
  }

  /** Whole tokens in the tenant's bucket now, and the bucket's rate; what is told before a refusal. */
  level(identity: Identity, nowMs: number): { tokens: number; rate: BucketRate } {
    const rate = this.rateOf(identity);
    const fullAt = this.poolOf(identity).active.fullAtMs(identity.tenant, identity.bookmarks) ?? nowMs;
    const missing = Math.max(0, fullAt - nowMs) / rate.intervalMs;
    return { tokens: Math.max(0, Math.floor(rate.burst - missing)), rate };
  }

  /** The tenant's proven credentials now; a tenant that is its one credential is not counted. */
  private countMember({ tenant, fingerprint }: BucketOwner, by: 1 | -1): number {
    if (tenant === fingerprint) return 0;
    const members = (this.members.get(tenant) ?? 0) + by;
    if (members > 0) this.members.set(tenant, members);
    else this.members.delete(tenant);
    return members;
  }

  private rateOf({ tenant }: Identity): BucketRate {
    return this.options.rateOf?.(tenant) ?? this.options.rate;
  }

  private poolOf(owner: BucketOwner): Pool {
    return owner.kind === 'shared' ? this.shared : this.own;
  }
}
