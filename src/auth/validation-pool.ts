import type { Identity } from '../request/credential.js';

/** How many validations run and wait at once. Contract: "Validations have their own pool". */
export interface ValidationPoolLimits {
  readonly running: number;
  /** Of `running`, places that only revalidations of proven credentials may take. */
  readonly reservedForProven: number;
  readonly waiting: number;
  /** Of `waiting`, places that unproven credentials may take. */
  readonly waitingUnproven: number;
  /** A validation that has waited this long for its turn is given up. */
  readonly waitMs: number;
}

/** The contract's numbers, but for the wait, which is the upstream time-out. */
export const VALIDATION_POOL = { running: 16, reservedForProven: 4, waiting: 256, waitingUnproven: 192 } as const;

/** Asks the upstream about one identity; never rejects but for a fault. */
export type Validate<R> = (identity: Identity, signal: AbortSignal) => Promise<R>;

/** Calls back once after so many milliseconds, unless the answered function is called before. */
export type After = (ms: number, callback: () => void) => () => void;

interface Flight<R> {
  readonly identity: Identity;
  readonly proven: boolean;
  readonly controller: AbortController;
  readonly result: Promise<R | undefined>;
  readonly settle: (result: R | undefined) => void;
  readonly fail: (error: unknown) => void;
  waiters: number;
  stopWaiting: (() => void) | undefined;
}

/**
 * Bounds what validating costs: concurrent first calls of one credential share one upstream validation, and the pool of
 * validations is of its own size, so that a flood of new credentials keeps no proven one from being revalidated.
 */
export class ValidationPool<R> {
  private readonly flights = new Map<string, Flight<R>>();
  private readonly queue = { proven: new Set<Flight<R>>(), unproven: new Set<Flight<R>>() };
  private readonly running = { proven: 0, unproven: 0 };
  private inBackground = 0;

  constructor(
    private readonly validate: Validate<R>,
    private readonly limits: ValidationPoolLimits,
    private readonly after: After,
  ) {}

  /**
   * The validation's result; undefined when there is no place for it, when it waited too long for one, or when this
   * caller went away. The upstream request is aborted only when its last waiter has left.
   */
  async run(identity: Identity, proven: boolean, signal: AbortSignal): Promise<R | undefined> {
    if (signal.aborted) return undefined;
    const flight = this.flights.get(identity.fingerprint) ?? this.open(identity, proven);
    if (flight === undefined) return undefined;
    flight.waiters += 1;
    let left = (): void => {};
    const leaving = new Promise<undefined>((resolve) => {
      left = () => resolve(undefined);
      signal.addEventListener('abort', left, { once: true });
    });
    try {
      return await Promise.race([flight.result, leaving]);
    } finally {
      signal.removeEventListener('abort', left);
      flight.waiters -= 1;
      if (flight.waiters === 0) this.abandon(flight);
    }
  }

  /**
   * Starts the revalidation of a proven credential that nobody waits for, and says whether it did: not beside another
   * validation of the credential, never to wait for a place, and never in the last place of the reserve, which is kept
   * for who does wait.
   */
  runInBackground(identity: Identity): boolean {
    const isFull = this.inBackground >= this.limits.reservedForProven - 1 || !this.mayStart(true);
    if (isFull || this.flights.has(identity.fingerprint)) return false;
    const flight = this.open(identity, true);
    if (flight === undefined) return false;
    this.inBackground += 1;
    // Waiters may join it and leave: it is seen through all the same.
    flight.waiters += 1;
    const ended = (): void => void (this.inBackground -= 1);
    flight.result.then(ended, ended);
    return true;
  }

  private open(identity: Identity, proven: boolean): Flight<R> | undefined {
    const starts = this.mayStart(proven);
    if (!starts && !this.mayWait(proven)) return undefined;
    const { promise: result, resolve: settle, reject: fail } = withResolvers<R | undefined>();
    // Whoever waits sees a failure; one whose waiters have all left must not end the process.
    result.catch(() => {});
    const controller = new AbortController();
    const flight: Flight<R> = {
      identity,
      proven,
      controller,
      result,
      settle,
      fail,
      waiters: 0,
      stopWaiting: undefined,
    };
    this.flights.set(identity.fingerprint, flight);
    if (starts) this.start(flight);
    else {
      this.queueOf(flight).add(flight);
      flight.stopWaiting = this.after(this.limits.waitMs, () => this.giveUp(flight));
    }
    return flight;
  }

  private mayStart(proven: boolean): boolean {
    const { running, limits } = this;
    if (running.proven + running.unproven >= limits.running) return false;
    return proven || running.unproven < limits.running - limits.reservedForProven;
  }

  private mayWait(proven: boolean): boolean {
    const waiting = this.queue.proven.size + this.queue.unproven.size;
    return waiting < this.limits.waiting && (proven || this.queue.unproven.size < this.limits.waitingUnproven);
  }

  private start(flight: Flight<R>): void {
    const kind = flight.proven ? 'proven' : 'unproven';
    this.running[kind] += 1;
    const ended = (): void => {
      this.running[kind] -= 1;
      this.forget(flight);
      this.startNext();
    };
    this.validate(flight.identity, flight.controller.signal).then(flight.settle, flight.fail).finally(ended);
  }

  private startNext(): void {
    for (const queue of [this.queue.proven, this.queue.unproven]) {
      for (const flight of queue) {
        if (!this.mayStart(flight.proven)) break;
        queue.delete(flight);
        flight.stopWaiting?.();
        this.start(flight);
      }
    }
  }

  private giveUp(flight: Flight<R>): void {
    this.queueOf(flight).delete(flight);
    this.forget(flight);
    flight.settle(undefined);
  }

  private abandon(flight: Flight<R>): void {
    this.forget(flight);
    flight.stopWaiting?.();
    this.queueOf(flight).delete(flight);
    flight.controller.abort();
  }

  private forget(flight: Flight<R>): void {
    if (this.flights.get(flight.identity.fingerprint) === flight) this.flights.delete(flight.identity.fingerprint);
  }

  private queueOf(flight: Flight<R>): Set<Flight<R>> {
    return flight.proven ? this.queue.proven : this.queue.unproven;
  }
}

function withResolvers<T>(): { promise: Promise<T>; resolve: (value: T) => void; reject: (error: unknown) => void } {
  let resolve!: (value: T) => void;
  let reject!: (error: unknown) => void;
  const promise = new Promise<T>((ok, no) => {
    resolve = ok;
    reject = no;
  });
  return { promise, resolve, reject };
}
