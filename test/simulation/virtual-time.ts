interface Event {
  readonly atMs: number;
  readonly order: number;
  readonly run: () => void;
  cancelled: boolean;
}

/** Time that passes only from event to event, so that hours of many instances take moments and always end the same. */
export class VirtualTime {
  private heap: Event[] = [];
  private orders = 0;
  private nowValue = 0;

  /** Milliseconds since the simulation began. */
  get nowMs(): number {
    return this.nowValue;
  }

  /** Runs `run` after `delayMs`; the function that is returned takes it back. */
  after(delayMs: number, run: () => void): () => void {
    const event = { atMs: this.nowValue + Math.max(0, delayMs), order: (this.orders += 1), run, cancelled: false };
    this.push(event);
    return () => {
      event.cancelled = true;
    };
  }

  /** Resolves after `delayMs`. */
  sleep(delayMs: number): Promise<void> {
    return new Promise((resolve) => this.after(delayMs, resolve));
  }

  /** Lets time pass until `endMs`, event by event, with all promises settled in between. */
  async runUntil(endMs: number): Promise<void> {
    await settled();
    for (let next = this.heap[0]; next !== undefined && next.atMs <= endMs; next = this.heap[0]) {
      this.pop();
      if (next.cancelled) continue;
      this.nowValue = next.atMs;
      next.run();
      await settled();
    }
    this.nowValue = endMs;
  }

  private push(event: Event): void {
    const { heap } = this;
    let at = heap.push(event) - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!isBefore(event, heap[parent] as Event)) break;
      heap[at] = heap[parent] as Event;
      at = parent;
    }
    heap[at] = event;
  }

  private pop(): void {
    const { heap } = this;
    const last = heap.pop() as Event;
    if (heap.length === 0) return;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && isBefore(heap[child + 1] as Event, heap[child] as Event)) child += 1;
      if (!isBefore(heap[child] as Event, last)) break;
      heap[at] = heap[child] as Event;
      at = child;
    }
    heap[at] = last;
  }
}

/** Resolves when no promise is left that could go on by itself. */
function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

function isBefore(a: Event, b: Event): boolean {
  return a.atMs < b.atMs || (a.atMs === b.atMs && a.order < b.order);
}

/** Numbers from 0 up to but not including 1 that depend on nothing but the seed (mulberry32). */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
