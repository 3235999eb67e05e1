import type { TelemetryKind } from './telemetry-event.js';
import { TelemetryQueue } from './telemetry-queue.js';
import type { TelemetrySink } from './telemetry-sink.js';

/** An event that waits for the sink: written already, so that the request that made it is free to go. */
export interface Waiting {
  readonly line: string;
  readonly kind: TelemetryKind;
  /** The refusals that it stands for; 0 for every other kind. */
  readonly representsCount: number;
}

/** Told once of every event that was offered and taken: whether the sink has it, or why not. */
export type Settled = (event: Waiting, arrived: boolean, reason?: string) => void;

/**
 * Events a batch: small enough that a pipe with an awake reader takes it at once, and more than one turn of the event
 * loop makes, or they would grow old in the queue and cost their collection.
 */
const BATCH = 512;

/**
 * Moves events from a bounded queue to the sink, one batch at a time and never within the caller's turn, so that a slow
 * or broken sink costs a request nothing. Every event taken is settled exactly once.
 */
export class TelemetryPump {
  readonly #queue: TelemetryQueue<Waiting>;
  #inFlight: readonly Waiting[] = [];
  #scheduled = false;
  #closed = false;
  #idleWaiters: (() => void)[] = [];

  constructor(
    private readonly sink: TelemetrySink,
    queueMax: number,
    private readonly settled: Settled,
  ) {
    this.#queue = new TelemetryQueue(queueMax);
  }

  /** Takes an event, or answers false where the queue is full or the pump closed. */
  offer(event: Waiting): boolean {
    if (this.#closed || !this.#queue.push(event)) return false;
    this.#schedule();
    return true;
  }

  /** Resolves when the sink has everything that was taken, or after `limitMs`; to whether it has. */
  idle(limitMs: number): Promise<boolean> {
    if (this.#isIdle()) return Promise.resolve(true);
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer);
        this.#idleWaiters = this.#idleWaiters.filter((waiter) => waiter !== done);
        resolve(this.#isIdle());
      };
      const timer = setTimeout(done, limitMs);
      this.#idleWaiters.push(done);
    });
  }

  /** Takes nothing more, and settles as lost whatever the sink has not confirmed. */
  close(): void {
    this.#closed = true;
    const left = [...this.#inFlight, ...this.#queue.take(this.#queue.size)];
    this.#inFlight = [];
    for (const event of left) this.settled(event, false, 'shut down before it was written');
    this.#wakeIdle();
  }

  #isIdle(): boolean {
    return this.#inFlight.length === 0 && this.#queue.size === 0;
  }

  #schedule(): void {
    if (this.#scheduled || this.#inFlight.length > 0) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      this.#send();
    });
  }

  #send(): void {
    if (this.#closed || this.#inFlight.length > 0 || this.#queue.size === 0) return;
    const batch = this.#queue.take(BATCH);
    this.#inFlight = batch;
    const lines = batch.map((event) => event.line);
    try {
      this.sink.write(lines, (arrived, reason) => this.#finish(batch, arrived, reason));
    } catch {
      this.#finish(batch, 0, 'failed');
    }
  }

  #finish(batch: readonly Waiting[], arrived: number, reason: string | undefined): void {
    // A batch that was given up at the close, or was finished before, has been settled.
    if (this.#inFlight !== batch) return;
    this.#inFlight = [];
    batch.forEach((event, index) => this.settled(event, index < arrived, reason));
    if (this.#queue.size > 0) this.#schedule();
    else this.#wakeIdle();
  }

  #wakeIdle(): void {
    for (const wake of this.#idleWaiters) wake();
  }
}
