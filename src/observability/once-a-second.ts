import type { Clock } from '../clock/clock.js';

/** How old a rendering may be. */
const MAX_AGE_MS = 1000;

/** Makes something at most once a second, and once for all who ask meanwhile; a failure is kept for nobody. */
export class OnceASecond<T> {
  #made: Promise<T> | undefined;
  #startedMs = 0;

  constructor(
    private readonly make: () => Promise<T>,
    private readonly clock: Clock,
  ) {}

  /** What was made within the last second, or is being made. */
  get(): Promise<T> {
    const nowMs = this.clock.monotonicMs();
    if (this.#made !== undefined && nowMs - this.#startedMs < MAX_AGE_MS) return this.#made;
    const made = this.make();
    this.#made = made;
    this.#startedMs = nowMs;
    made.catch(() => {
      if (this.#made === made) this.#made = undefined;
    });
    return made;
  }
}
