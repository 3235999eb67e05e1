import type { Clock } from '../clock/clock.js';
import { DIRTY, EARLY, type QuotaRow } from './quota-row.js';

/** At most one early flush a second per tenant. Design: "Near the edge". */
export const EARLY_PAUSE_MS = 1_000;

/** Lists the rows that hold unsent calls, so that a flush looks at no other; each row stands in a list once. */
export class QuotaOutbox {
  /** What the flush in progress may take; calls counted during a flush wait for the next one. */
  private sealed: QuotaRow[] = [];
  private open: QuotaRow[] = [];
  private early: QuotaRow[] = [];

  constructor(private readonly clock: Clock) {}

  /** Rows that wait for a flush; some may hold nothing any more. */
  get size(): number {
    return this.sealed.length + this.open.length;
  }

  /** Calls that wait for a flush; below 0 where more were given back than made since the last one. */
  unsentCalls(): number {
    return [this.sealed, this.open].flat().reduce((sum, row) => sum + row.pending, 0);
  }

  /** Lists a row for the next flush. */
  list(row: QuotaRow): void {
    if ((row.flags & DIRTY) !== 0) return;
    row.flags |= DIRTY;
    this.open.push(row);
  }

  /** Lists a row for an early flush; false where it is listed already. */
  listEarly(row: QuotaRow): boolean {
    if ((row.flags & EARLY) !== 0) return false;
    row.flags |= EARLY;
    this.early.push(row);
    return true;
  }

  /** Marks the end of what {@link take} hands out. */
  seal(): void {
    this.sealed = this.sealed.length === 0 ? this.open : this.sealed.concat(this.open);
    this.open = [];
  }

  /** Takes up to `max` rows with unsent calls, and puts these calls in flight. */
  take(max: number): QuotaRow[] {
    const taken: QuotaRow[] = [];
    let looked = 0;
    while (looked < this.sealed.length && taken.length < max) {
      const row = this.sealed[looked] as QuotaRow;
      looked += 1;
      row.flags &= ~DIRTY;
      if (putInFlight(row)) taken.push(row);
    }
    this.sealed = this.sealed.slice(looked);
    return taken;
  }

  /** As {@link take}, for rows near the edge whose pause is over; the others stay listed. */
  takeEarly(max: number): QuotaRow[] {
    const nowMs = this.clock.monotonicMs();
    const taken: QuotaRow[] = [];
    const waiting: QuotaRow[] = [];
    for (const row of this.early) {
      if (taken.length === max || row.earlyFromMs > nowMs) {
        waiting.push(row);
        continue;
      }
      row.flags &= ~EARLY;
      if (!putInFlight(row)) continue;
      row.earlyFromMs = nowMs + EARLY_PAUSE_MS;
      taken.push(row);
    }
    this.early = waiting;
    return taken;
  }

  /** Milliseconds until a row near the edge may be flushed, or undefined where none waits. */
  earlyWaitMs(): number | undefined {
    if (this.early.length === 0) return undefined;
    const nowMs = this.clock.monotonicMs();
    return this.early.reduce((wait, row) => Math.min(wait, Math.max(0, row.earlyFromMs - nowMs)), EARLY_PAUSE_MS);
  }

  /** What was in flight is stored, or has to be taken for stored: it is part of the shared total now. */
  settleStored(rows: readonly QuotaRow[]): void {
    for (const row of rows) {
      row.shared += row.inFlight;
      row.inFlight = 0;
    }
  }

  /** What was in flight is certainly not stored: it is unsent again. */
  settleReturned(rows: readonly QuotaRow[]): void {
    for (const row of rows) {
      row.pending += row.inFlight;
      row.inFlight = 0;
      this.list(row);
    }
  }
}

function putInFlight(row: QuotaRow): boolean {
  if (row.pending === 0) return false;
  row.inFlight = row.pending;
  row.pending = 0;
  return true;
}
