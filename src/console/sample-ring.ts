/** The last so many of something, in the order in which they came; the oldest makes room. */
export class SampleRing<T> {
  private readonly kept: T[] = [];
  private next = 0;

  constructor(private readonly capacity: number) {}

  /** Keeps one more. */
  push(sample: T): void {
    this.kept[this.next] = sample;
    this.next = (this.next + 1) % this.capacity;
  }

  /** Everything that is kept, the oldest first. */
  all(): T[] {
    const isFull = this.kept.length === this.capacity;
    return isFull ? [...this.kept.slice(this.next), ...this.kept.slice(0, this.next)] : [...this.kept];
  }
}
