/** What may go wrong between memory and the control database. */
export type PersistenceStep = 'connect' | 'load' | 'flush' | 'read';

/**
 * Whether the shared quota is being persisted: degraded from the first connect, load, flush or read that failed or
 * timed out until one flush and one read have succeeded. Contract: `persistenceDegraded`.
 */
export class PersistenceState {
  private sinceMs: number | undefined;
  private flushed = false;
  private read = false;
  private reached = false;

  /** Whether the last connect, flush or read succeeded: what is last known, and nothing is asked for it. */
  get isReached(): boolean {
    return this.reached;
  }

  /** Whether counts stay in memory for now. */
  get isDegraded(): boolean {
    return this.sinceMs !== undefined;
  }

  /**
   * Notes a failure.
   * @returns whether it is the first one, with which degradation begins
   */
  failed(monotonicMs: number): boolean {
    this.flushed = false;
    this.read = false;
    this.reached = false;
    if (this.sinceMs !== undefined) return false;
    this.sinceMs = monotonicMs;
    return true;
  }

  /** Notes a connect that succeeded; it ends no degradation. */
  connected(): void {
    this.reached = true;
  }

  /**
   * Notes a flush or a read that did its part.
   * @returns how many milliseconds degradation has lasted where it ends with this one
   */
  succeeded(step: 'flush' | 'read', monotonicMs: number): number | undefined {
    this.reached = true;
    if (step === 'flush') this.flushed = true;
    else this.read = true;
    if (this.sinceMs === undefined || !this.flushed || !this.read) return undefined;
    const lastedMs = monotonicMs - this.sinceMs;
    this.sinceMs = undefined;
    return lastedMs;
  }
}
