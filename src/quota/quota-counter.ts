import type { Clock } from '../clock/clock.js';
import type { Surface } from '../errors/error-body.js';
import type { Bookmarks } from '../request/bookmarks.js';
import { type CounterListener, NOBODY } from './counter-listener.js';
import { QuotaOutbox } from './quota-outbox.js';
import { countOf, DayRows, DIRTY, type QuotaRow, USED } from './quota-row.js';
import { DAY_MS, utcDayOf } from './utc-day.js';

/** How many rows the counter keeps, over all days. */
export interface CounterCeilings {
  /** From here on a new row takes the place of one that is stored. */
  readonly rows: number;
  /** Days beside the one that the wall clock shows. */
  readonly pastDays: number;
}

/** Design: "Totals in memory have a ceiling". A row takes about 215 bytes with its name, so this is some 45 MB. */
export const COUNTER_CEILINGS: CounterCeilings = { rows: 200_000, pastDays: 4 };

/** Rows that one call may look at to find one to evict. */
const EVICTION_STEPS = 32;

/**
 * Counts calls per tenant and UTC day. Counts are keyed by day and never zeroed: the wall clock only chooses the row,
 * so no step of it reopens a day or mints a call. A count leaves memory only when it is stored, and its day is over or
 * the ceiling of rows is reached. Design: "The shared quota, exactly".
 */
export class QuotaCounter {
  /** What is counted here and not stored yet. */
  readonly outbox: QuotaOutbox;
  private readonly days = new Map<number, DayRows>();
  private today: DayRows;
  private listener: CounterListener = NOBODY;
  /** Twice the live instances. */
  private edge = 2;
  private size = 0;
  private uncounted = 0;

  /** @param limitOf calls per UTC day that a tenant may make; asked on every call */
  constructor(
    private readonly clock: Clock,
    private readonly limitOf: (tenant: string) => number,
    private readonly ceilings: CounterCeilings = COUNTER_CEILINGS,
  ) {
    this.outbox = new QuotaOutbox(clock);
    this.today = new DayRows(utcDayOf(clock.utcMs()));
    this.days.set(this.today.utcDay, this.today);
  }

  /** Tells `listener` from now on. */
  listen(listener: CounterListener): void {
    this.listener = listener;
  }

  /** The UTC day that the wall clock shows. */
  currentDay(): number {
    return this.dayNow().utcDay;
  }

  /**
   * Counts one call, if the day's quota is not used up.
   * @param _surface where it came in; only a counter in shadow mode asks
   * @param bookmarks of whoever calls
   * @returns the UTC day it was counted on (days since the epoch), or -1
   */
  tryCount(tenant: string, _surface?: Surface, bookmarks?: Bookmarks): number {
    const today = this.dayNow();
    const row = today.find(tenant, bookmarks) ?? this.openRow(today, tenant);
    if (row === undefined) return this.letPass(today);
    const remaining = this.limitOf(tenant) - countOf(row);
    if (remaining <= 0) return -1;
    row.pending += 1;
    row.flags |= USED;
    if ((row.flags & DIRTY) === 0) this.outbox.list(row);
    if (row.pending * this.edge >= remaining - 1 && remaining > 1) this.wantEarly(row);
    return today.utcDay;
  }

  /** Counts one call whatever is left, and answers its UTC day. */
  protected count(tenant: string): number {
    const today = this.dayNow();
    const row = today.rows.get(tenant) ?? this.openRow(today, tenant);
    if (row === undefined) return this.letPass(today);
    row.pending += 1;
    row.flags |= USED;
    this.outbox.list(row);
    return today.utcDay;
  }

  /** Gives back one call that was counted on `utcDay`. */
  uncount(tenant: string, utcDay: number): void {
    const day = this.days.get(utcDay);
    // A day that has left memory was stored whole, long after any request of it could still be running.
    const row = day?.rows.get(tenant) ?? (day && this.openRow(day, tenant));
    if (row === undefined) return;
    row.pending -= 1;
    this.outbox.list(row);
  }

  /** Opens the tenant's row of today where the database may have a total that memory lacks, so that it is read. */
  noteAccepted(tenant: string): void {
    const today = this.dayNow();
    if (!today.complete && !today.rows.has(tenant)) this.openRow(today, tenant);
  }

  /**
   * The calls counted on the day of this instant, now's unless it was read already, over all instances as far as known.
   */
  used(tenant: string, utcMs = this.clock.utcMs()): number {
    const row = this.dayNow(utcMs).rows.get(tenant);
    return row === undefined ? 0 : countOf(row);
  }

  /** Whether the next call would be refused. */
  isExhausted(tenant: string): boolean {
    return this.used(tenant) >= this.limitOf(tenant);
  }

  /** How many instances share the remaining quota; near the edge they have to talk more often. */
  setLiveInstances(instances: number): void {
    this.edge = 2 * Math.max(1, instances);
  }

  /** The rows of today, for whoever looks at them in passing. */
  rowsOfToday(): ReadonlyMap<string, Readonly<QuotaRow>> {
    return this.dayNow().rows;
  }

  /** Rows in memory, over all days. */
  get rowCount(): number {
    return this.size;
  }

  /** Calls that passed uncounted because memory was full of counts that could not be stored. */
  get uncountedCalls(): number {
    return this.uncounted;
  }

  /**
   * Adopts a shared total, also of a tenant that was never served here; past the ceiling only of known ones. Nothing
   * may be in flight while the total is read, because the total may hold it already.
   */
  adopt(utcDay: number, tenant: string, calls: number): void {
    const day = this.days.get(utcDay);
    if (day === undefined) return;
    let row = day.rows.get(tenant);
    if (row === undefined) {
      if (this.size >= this.ceilings.rows) {
        day.complete = false;
        return;
      }
      row = this.addRow(day, tenant);
    }
    row.shared = calls;
  }

  /** Every total of this day is being read: {@link DayRows.complete} holds from here until a row is left out. */
  beginFullRead(utcDay: number): void {
    const day = this.days.get(utcDay);
    if (day !== undefined) day.complete = true;
  }

  /** The full read was not finished. */
  abandonFullRead(utcDay: number): void {
    const day = this.days.get(utcDay);
    if (day !== undefined) day.complete = false;
  }

  /** Lets days go that ended a day ago and are stored whole; until then a clock that steps back finds them. */
  prune(): void {
    const nowMs = this.clock.monotonicMs();
    const past = [...this.days.values()].filter((day) => day !== this.today);
    past.sort((a, b) => (a.leftAtMs ?? 0) - (b.leftAtMs ?? 0));
    past.forEach((day, index) => {
      const surplus = past.length - index > this.ceilings.pastDays;
      const over = nowMs - (day.leftAtMs ?? nowMs) >= DAY_MS;
      if ((over || surplus) && day.isStored()) this.drop(day);
    });
  }

  private dayNow(utcMs = this.clock.utcMs()): DayRows {
    const utcDay = Math.floor(utcMs / DAY_MS);
    return utcDay === this.today.utcDay ? this.today : this.openDay(utcDay);
  }

  private openDay(utcDay: number): DayRows {
    this.today.leftAtMs = this.clock.monotonicMs();
    let day = this.days.get(utcDay);
    if (day === undefined) {
      day = new DayRows(utcDay);
      this.days.set(utcDay, day);
    }
    day.leftAtMs = undefined;
    // While the clock showed another day, this one's totals were not read.
    day.complete = false;
    this.today = day;
    this.prune();
    this.listener.dayOpened(utcDay);
    return day;
  }

  private drop(day: DayRows): void {
    day.close();
    this.days.delete(day.utcDay);
    this.size -= day.rows.size;
  }

  private addRow(day: DayRows, tenant: string): QuotaRow {
    this.size += 1;
    return day.add(tenant);
  }

  /** A row for a tenant that has none, or undefined where memory is full of counts that are not stored yet. */
  private openRow(day: DayRows, tenant: string): QuotaRow | undefined {
    // Two at a time, so that what had to be kept over the ceiling goes once it is stored.
    for (let row = 0; row < 2 && this.size >= this.ceilings.rows; row += 1) this.evictOne();
    if (this.size >= 2 * this.ceilings.rows) return undefined;
    if (!day.complete) this.listener.rowLacking(tenant);
    return this.addRow(day, tenant);
  }

  private evictOne(): void {
    for (const day of this.days.values()) {
      if (day !== this.today && day.evictOne(EVICTION_STEPS)) return void (this.size -= 1);
    }
    if (this.today.evictOne(EVICTION_STEPS)) this.size -= 1;
  }

  /** The quota fails open: a call is served rather than refused for want of memory to count it. */
  private letPass(today: DayRows): number {
    this.uncounted += 1;
    return today.utcDay;
  }

  private wantEarly(row: QuotaRow): void {
    if (this.outbox.listEarly(row)) this.listener.earlyWanted();
  }
}
