import type { TenantContext } from '../request/credential.js';
import type { RevalidationTimes } from './revalidation.js';

/** How long a context lives, in milliseconds of the monotonic clock. */
export interface ContextLives {
  /** A validated context ends this long after its last use. */
  readonly contextIdleMs: number;
  /** When a context is validated again, however busy it is. */
  readonly revalidation: RevalidationTimes;
}

/** A validated context with the times that are this instance's own affair, whoever else uses the credential where. */
export class HeldContext {
  private usedAtMs: number;
  /** From when on a use sets off a revalidation. */
  private revalidateAtMs: number;
  /** Revalidations begun since the context was validated. */
  private tries = 0;
  /** When the context has reached twice its maximum age. */
  private readonly endsAtMs: number;

  constructor(
    readonly tenant: TenantContext,
    private readonly lives: ContextLives,
    nowMs: number,
  ) {
    this.usedAtMs = nowMs;
    this.revalidateAtMs = lives.revalidation.dueAt(nowMs);
    this.endsAtMs = lives.revalidation.endsAt(nowMs);
  }

  /** Whether it was not used for so long that it serves no more. */
  isIdle(nowMs: number): boolean {
    return nowMs - this.usedAtMs >= this.lives.contextIdleMs;
  }

  /** Whether it still spares a request the upstream's word. */
  serves(nowMs: number): boolean {
    return !this.isIdle(nowMs) && nowMs < this.endsAtMs;
  }

  /** Refreshes it; answers whether it is due to be validated again while it serves. */
  use(nowMs: number): boolean {
    this.usedAtMs = nowMs;
    return nowMs >= this.revalidateAtMs;
  }

  /** A revalidation has begun: should it come to nothing, the next one is due only after a pause. */
  noteTry(nowMs: number): void {
    this.tries += 1;
    this.revalidateAtMs = this.lives.revalidation.retryAt(nowMs, this.tries);
  }

  /** The context that takes its place, validated now; validating one that still serves is no use of it. */
  renewed(tenant: TenantContext, nowMs: number): HeldContext {
    const fresh = new HeldContext(tenant, this.lives, nowMs);
    if (!this.isIdle(nowMs)) fresh.usedAtMs = this.usedAtMs;
    return fresh;
  }
}
