/** A first-in-first-out queue with a ceiling: what doesn't fit is refused, never what is in it already. */
export class TelemetryQueue<T> {
  #items: T[] = [];
  #head = 0;

  constructor(private readonly max: number) {}

  /** How many items wait. */
  get size(): number {
    return this.#items.length - this.#head;
  }

  /** Appends an item, or answers false where the queue is full. */
  push(item: T): boolean {
    if (this.size >= this.max) return false;
    this.#items.push(item);
    return true;
  }

  /** Removes up to `count` items from the front. */
  take(count: number): T[] {
    const taken = this.#items.slice(this.#head, this.#head + count);
    this.#head += taken.length;
    // Moving the rest to the front only once it is the smaller half keeps taking at constant cost per item.
    if (this.#head * 2 >= this.#items.length) {
      this.#items = this.#items.slice(this.#head);
      this.#head = 0;
    }
    return taken;
  }
}
