import { type TelemetryEvent, telemetryLine } from './telemetry-event.js';
import { TelemetryQueue } from './telemetry-queue.js';
import type { TelemetrySink } from './telemetry-sink.js';

/** An event that waits for the sink; it is written when it leaves, so that what waits is small. */
export interface Waiting {
  readonly event: TelemetryEvent;
  readonly atUtcMs: number;
  /** The refusals that it stands for; 0 for every other kind. */
  readonly representsCount: number;
}

/** Told once of every event that was offered and taken: whether the sink has it, or why not. */
export type Settled = (event: Waiting, arrived: boolean, reason?: string) => void;

/** Events a batch: small enough that a pipe with an awake reader takes it at once. */
const BATCH = 512;
/** How long the first event of a batch waits for company: each write is a call to the system. */
const LINGER_MS = 20;

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
    private readonly queueMax: number,
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
    const send = () => {
      this.#scheduled = false;
      this.#send();
    };
    // Where a whole batch is there already nothing is gained by waiting, and a short queue would overflow meanwhile.
    if (this.#queue.size >= BATCH || this.queueMax <= BATCH) setImmediate(send);
    else setTimeout(send, LINGER_MS);
  }

  #send(): void {
    if (this.#closed || this.#inFlight.length > 0 || this.#queue.size === 0) return;
    const batch = this.#queue.take(BATCH);
    this.#inFlight = batch;
    const lines = batch.map(({ event, atUtcMs }) => telemetryLine(event, atUtcMs));
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
