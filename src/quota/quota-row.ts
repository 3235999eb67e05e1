import type { Bookmarks } from '../request/bookmarks.js';

/** Unsent calls of this row are listed for the next flush. */
export const DIRTY = 1;
/** The row is listed for an early flush. */
export const EARLY = 2;
/** A call asked for this row since eviction last looked at it. */
export const USED = 4;
/** The row was taken out of memory: whoever remembers it has to look for another. */
const GONE = 8;

/**
 * The calls of one tenant on one UTC day as this instance knows them; their sum is the count that is held against the
 * quota. A plain object of few small fields: there are up to 200,000 of them.
 */
export interface QuotaRow {
  readonly tenant: string;
  readonly utcDay: number;
  /** The total over all instances that was last adopted, and what this instance has stored since. */
  shared: number;
  /** Sent in a batch that is not known to be stored. */
  inFlight: number;
  /** Counted since; below 0 where calls that were sent already have been given back. */
  pending: number;
  /** {@link DIRTY}, {@link EARLY}, {@link USED}, and whether it is gone. */
  flags: number;
  /** Monotonic milliseconds from which the row may be flushed early again. */
  earlyFromMs: number;
}

/** The count that is held against the quota. */
export function countOf(row: QuotaRow): number {
  return row.shared + row.inFlight + row.pending;
}

/** Whether everything counted in this row is known to be stored. */
export function isStored(row: QuotaRow): boolean {
  return row.pending === 0 && row.inFlight === 0;
}

/** The rows of one UTC day. */
export class DayRows {
  readonly rows = new Map<string, QuotaRow>();
  /** Every row that the database has of this day has been adopted and none has been evicted since. */
  complete = false;
  /** Monotonic milliseconds since which the wall clock shows another day; undefined for the day it shows. */
  leftAtMs: number | undefined;
  private hand: Iterator<QuotaRow> | undefined;

  constructor(readonly utcDay: number) {}

  /** The tenant's row, by a look at the caller's bookmark where it has some. */
  find(tenant: string, bookmarks: Bookmarks | undefined): QuotaRow | undefined {
    const marked = bookmarks?.row as QuotaRow | undefined;
    if (marked !== undefined && marked.utcDay === this.utcDay && (marked.flags & GONE) === 0) return marked;
    const row = this.rows.get(tenant);
    if (bookmarks !== undefined) bookmarks.row = row;
    return row;
  }

  /** A row without any count yet. */
  add(tenant: string): QuotaRow {
    const row: QuotaRow = { tenant, utcDay: this.utcDay, shared: 0, inFlight: 0, pending: 0, flags: 0, earlyFromMs: 0 };
    this.rows.set(tenant, row);
    return row;
  }

  /** Whether everything counted on this day is known to be stored. */
  isStored(): boolean {
    for (const row of this.rows.values()) if (!isStored(row)) return false;
    return true;
  }

  /**
   * Takes one stored row out that was not used of late, looking at `steps` rows at the most (a second chance each).
   * The hand goes on where it stopped, so that no call pays for a walk over all rows.
   * @returns whether a row was taken out
   */
  evictOne(steps: number): boolean {
    for (let step = 0; step < steps; step += 1) {
      this.hand ??= this.rows.values();
      const next = this.hand.next();
      if (next.done === true) {
        this.hand = undefined;
        continue;
      }
      const row = next.value;
      if (!isStored(row)) continue;
      if ((row.flags & USED) !== 0) row.flags &= ~USED;
      else return this.evict(row);
    }
    return false;
  }

  private evict(row: QuotaRow): true {
    this.rows.delete(row.tenant);
    row.flags |= GONE;
    this.complete = false;
    return true;
  }

  /** The whole day goes out of memory. */
  close(): void {
    for (const row of this.rows.values()) row.flags |= GONE;
  }
}
