/** The time over which the flood threshold counts. */
const WINDOW_MS = 1000;

/**
 * Decides which refusals get a telemetry event of their own. Each slot (a layer on a surface) may emit `threshold`
 * events a second; what is over that is held back as a number and goes out with the slot's next event, so that the sum
 * of what events stand for is the number of refusals. Constant time, no allocation. Spec: "Observability".
 */
export class TelemetrySampler {
  readonly #windowStartMs: Float64Array;
  readonly #emitted: Float64Array;
  readonly #held: Float64Array;
  #totalHeld = 0;

  constructor(
    slots: number,
    private readonly threshold: number,
  ) {
    this.#windowStartMs = new Float64Array(slots).fill(Number.NEGATIVE_INFINITY);
    this.#emitted = new Float64Array(slots);
    this.#held = new Float64Array(slots);
  }

  /** How many refusals are held back, over all slots. */
  get totalHeld(): number {
    return this.#totalHeld;
  }

  /**
   * Counts one refusal of a slot.
   * @returns how many refusals the event to emit now stands for, this one included; 0 when this one is held back
   */
  count(slot: number, nowMs: number): number {
    if (nowMs - (this.#windowStartMs[slot] ?? 0) >= WINDOW_MS) {
      this.#windowStartMs[slot] = nowMs;
      this.#emitted[slot] = 0;
    }
    const emitted = this.#emitted[slot] ?? 0;
    if (emitted >= this.threshold) {
      this.hold(slot, 1);
      return 0;
    }
    this.#emitted[slot] = emitted + 1;
    return this.take(slot) + 1;
  }

  /** Holds back refusals whose event could not be queued. */
  hold(slot: number, refusals: number): void {
    this.#held[slot] = (this.#held[slot] ?? 0) + refusals;
    this.#totalHeld += refusals;
  }

  /** Hands out what a slot holds back, and holds it no longer. */
  take(slot: number): number {
    const held = this.#held[slot] ?? 0;
    this.#held[slot] = 0;
    this.#totalHeld -= held;
    return held;
  }
}
