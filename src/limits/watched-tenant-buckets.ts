import type { BucketOwner, SubjectBuckets, TenantBuckets } from '../auth/tenant-buckets.js';
import type { Surface } from '../errors/error-body.js';
import type { Identity } from '../request/credential.js';
import type { TenantLayer } from './tenant-layer.js';

/**
 * The tenants' buckets as authentication sees them where the tenant layer is only watched: a further token of a subject
 * pays where its bucket has something, and is let in where not, which is told. Decision 0022.
 */
export class WatchedTenantBuckets implements TenantBuckets, SubjectBuckets {
  constructor(
    private readonly layer: TenantLayer,
    private readonly wouldRefuse: (surface: Surface) => void,
  ) {}

  secondsToToken(): number {
    return 0;
  }

  take(identity: Identity, nowMs: number, surface: Surface): number {
    if (this.layer.wait(identity, nowMs) === 0) return this.layer.take(identity, nowMs);
    this.wouldRefuse(surface);
    return -1;
  }

  knowsSubject(identity: Identity, nowMs: number): boolean {
    return this.layer.knowsSubject(identity, nowMs);
  }

  waitForPlace(leaving: BucketOwner, nowMs: number): number {
    return this.layer.waitForPlace(leaving, nowMs);
  }

  join(owner: BucketOwner, nowMs: number): void {
    this.layer.join(owner, nowMs);
  }

  leave(owner: BucketOwner, nowMs: number): void {
    this.layer.leave(owner, nowMs);
  }
}
