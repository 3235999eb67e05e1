/** A context is asked about again at its maximum age and up to this part of it later, so that tenants spread. */
const SPREAD = 0.25;
/** A try that came to nothing is repeated after this part of the maximum age, and then after twice as long each time. */
const FIRST_PAUSE = 0.125;

/**
 * When a context that reached its maximum age is validated again while it goes on serving: at a use, in the background,
 * for at most one more interval. All times are monotonic milliseconds. Spec: "Revocation is noticed when the credential
 * is revalidated"; decision 0021.
 */
export class RevalidationTimes {
  /**
   * @param maxAgeMs 0: never
   * @param random from 0 to below 1
   */
  constructor(
    private readonly maxAgeMs: number,
    private readonly random: () => number,
  ) {}

  /** From when on a use sets off the revalidation of a context that was validated now. */
  dueAt(nowMs: number): number {
    return this.maxAgeMs === 0 ? Number.POSITIVE_INFINITY : nowMs + this.maxAgeMs * (1 + SPREAD * this.random());
  }

  /** From when on a use sets off another try, the first time after `tries` of 1. */
  retryAt(nowMs: number, tries: number): number {
    return nowMs + this.maxAgeMs * FIRST_PAUSE * 2 ** (tries - 1);
  }

  /** From when on a context that was validated now serves no more. */
  endsAt(nowMs: number): number {
    return this.maxAgeMs === 0 ? Number.POSITIVE_INFINITY : nowMs + 2 * this.maxAgeMs;
  }
}
