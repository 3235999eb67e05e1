import { afterGivingBack, afterTaking, type BucketRate, waitMs } from './token-bucket.js';

/**
 * Layer 4: what the whole instance may send towards the upstream. Unproven requests may draw the bucket down only by
 * their share, so that a scanner can't take what tenants live on. Contract: `TIDB_MCP_GLOBAL_UNPROVEN_SHARE`.
 */
export class GlobalLayer {
  private fullAtMs = 0;
  private readonly neededByUnproven: number;

  constructor(
    private readonly rate: BucketRate,
    unprovenShare: number,
  ) {
    this.neededByUnproven = rate.burst * (1 - unprovenShare) + 1;
  }

  /** Milliseconds until the bucket has a token for such a request; 0 when it has one. */
  wait(proven: boolean, nowMs: number): number {
    return waitMs(this.fullAtMs, nowMs, this.rate, proven ? 1 : this.neededByUnproven);
  }

  /** Takes a token; answers the bucket's new time, for {@link giveBack}. Ask {@link wait} first. */
  take(nowMs: number): number {
    return (this.fullAtMs = afterTaking(this.fullAtMs, nowMs, this.rate));
  }

  /** Gives a token back. */
  giveBack(takenFullAtMs: number, nowMs: number): void {
    this.fullAtMs = afterGivingBack(this.fullAtMs, takenFullAtMs, nowMs, this.rate);
  }
}
