/** Runs pieces of work one at a time, in the order in which they were handed over; a failed one stops nobody. */
export class SerialQueue {
  private tail: Promise<unknown> = Promise.resolve();
  private waiting = 0;

  /** @param ceiling pieces that may wait or run at once */
  constructor(private readonly ceiling: number) {}

  /** Whether one more piece would be refused. */
  get isFull(): boolean {
    return this.waiting >= this.ceiling;
  }

  /** Runs `work` after everything handed over before it, and settles as it does; rejects where the queue is full. */
  run<T>(work: () => Promise<T>): Promise<T> {
    if (this.isFull) return Promise.reject(new Error(`more than ${this.ceiling} pieces of work wait`));
    return this.runRegardless(work);
  }

  /** As {@link run}, also where the queue is full: for what puts an end to the others' work. */
  runRegardless<T>(work: () => Promise<T>): Promise<T> {
    this.waiting += 1;
    const result = this.tail.then(work);
    this.tail = result.then(this.leave, this.leave);
    return result;
  }

  private readonly leave = (): void => {
    this.waiting -= 1;
  };
}
