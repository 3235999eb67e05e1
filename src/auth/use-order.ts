/** What stands in a {@link UseOrder}, which alone writes the two neighbours. */
export interface Used<T> {
  /** Milliseconds of the monotonic clock; to change it, take the entry out and put it in again. */
  lastUsedMs: number;
  older: T | undefined;
  newer: T | undefined;
}

/** Entries in the order of their last use, as a list that hangs in themselves: whatever is done costs no look-up. */
export class UseOrder<T extends Used<T>> {
  private oldEnd: T | undefined;
  private newEnd: T | undefined;

  /** The entry that was used least recently. */
  get oldest(): T | undefined {
    return this.oldEnd;
  }

  /** The entry that was used last. */
  get newest(): T | undefined {
    return this.newEnd;
  }

  /** Puts an entry at the new end: it was used just now. */
  append(entry: T): void {
    this.link(entry, this.newEnd);
  }

  /**
   * Puts an entry where its last use belongs.
   * @param from an entry that was not used before this one, which spares walking there; the newest where there is none
   */
  insert(entry: T, from = this.newEnd): void {
    let older = from;
    if (this.oldEnd !== undefined && entry.lastUsedMs <= this.oldEnd.lastUsedMs) older = undefined;
    while (older !== undefined && older.lastUsedMs > entry.lastUsedMs) older = older.older;
    this.link(entry, older);
  }

  /** Takes an entry out. */
  remove(entry: T): void {
    if (entry.older === undefined) this.oldEnd = entry.newer;
    else entry.older.newer = entry.newer;
    if (entry.newer === undefined) this.newEnd = entry.older;
    else entry.newer.older = entry.older;
    entry.older = entry.newer = undefined;
  }

  private link(entry: T, older: T | undefined): void {
    const newer = older === undefined ? this.oldEnd : older.newer;
    entry.older = older;
    entry.newer = newer;
    if (older === undefined) this.oldEnd = entry;
    else older.newer = entry;
    if (newer === undefined) this.newEnd = entry;
    else newer.older = entry;
  }
}
