import type { Clock } from '../clock/clock.js';
import type { QuotaCounter } from './quota-counter.js';
import type { QuotaStore, TotalsPosition } from './quota-store.js';

/** Rows of one page, few enough that handling them never holds the event loop for long. */
const PAGE_ROWS = 1_000;

/** Tenants read by name in one statement. */
const NAMED_TENANTS = 500;

/** Tenants that may wait to be read by name; who finds no place is read with the next full read. */
const WANTED_CEILING = 10_000;

/**
 * How far each read reaches back before the last one, by the database's clock: a row is stamped before its transaction
 * commits, and no transaction lasts this long (two seconds, and half a minute until the server drops a lost client).
 */
export const READ_OVERLAP_MS = 60_000;

/** Every total is read again this often, for what a stepping clock of the database or an operator changed unseen. */
export const FULL_READ_EVERY_MS = 600_000;

/** Reads shared totals and lets the counter adopt them: what changed since the last read, and now and then all. */
export class TotalsReader {
  private readonly wanted = new Set<string>();
  private day: number | undefined;
  private watermarkMs = 0;
  private fullReadAtMs = 0;
  private fullReadDue = true;
  private live = 1;

  /**
   * @param pause lets the event loop do something else between pages
   * @param aliveMs how long ago a live instance was seen at most
   */
  constructor(
    private readonly store: QuotaStore,
    private readonly counter: QuotaCounter,
    private readonly clock: Clock,
    private readonly aliveMs: number,
    private readonly pause: () => Promise<void>,
  ) {}

  /** Instances seen in the last three intervals, this one included. */
  get liveInstances(): number {
    return this.live;
  }

  /** Tenants that wait to be read by name. */
  get wantedCount(): number {
    return this.wanted.size;
  }

  /** Has a tenant's total of today read in the background. */
  want(tenant: string): void {
    if (this.wanted.size < WANTED_CEILING) this.wanted.add(tenant);
    else this.fullReadDue = true;
  }

  /** Has the next read be one of every total of the day. */
  requireFullRead(): void {
    this.fullReadDue = true;
  }

  /** Reads the totals of the day that changed since the last read, or all of them, and adopts them. */
  async readChanged(): Promise<void> {
    const utcDay = this.counter.currentDay();
    const { nowMs, liveInstances } = await this.store.survey(this.aliveMs);
    this.live = Math.max(1, liveInstances);
    this.counter.setLiveInstances(this.live);
    if (!this.isFullReadDue(utcDay, nowMs)) {
      await this.readFrom(utcDay, this.watermarkMs - READ_OVERLAP_MS);
    } else await this.readAll(utcDay);
    this.day = utcDay;
    this.watermarkMs = nowMs;
  }

  /** Reads these tenants' totals and adopts them. */
  async readNamed(utcDay: number, tenants: readonly string[]): Promise<void> {
    for (let start = 0; start < tenants.length; start += NAMED_TENANTS) {
      const totals = await this.store.totalsOf(utcDay, tenants.slice(start, start + NAMED_TENANTS));
      for (const { tenant, calls } of totals) this.counter.adopt(utcDay, tenant, calls);
    }
  }

  /** Reads who was {@link want wanted}. */
  async readWanted(): Promise<void> {
    const tenants = [...this.wanted];
    await this.readNamed(this.counter.currentDay(), tenants);
    for (const tenant of tenants) this.wanted.delete(tenant);
  }

  private isFullReadDue(utcDay: number, nowMs: number): boolean {
    const long = this.clock.monotonicMs() - this.fullReadAtMs >= FULL_READ_EVERY_MS;
    return this.fullReadDue || long || this.day !== utcDay || nowMs < this.watermarkMs;
  }

  private async readAll(utcDay: number): Promise<void> {
    this.counter.beginFullRead(utcDay);
    try {
      await this.readFrom(utcDay, Number.MIN_SAFE_INTEGER);
    } catch (error) {
      this.counter.abandonFullRead(utcDay);
      throw error;
    }
    this.fullReadDue = false;
    this.fullReadAtMs = this.clock.monotonicMs();
    this.wanted.clear();
  }

  private async readFrom(utcDay: number, fromMs: number): Promise<void> {
    let after: TotalsPosition = { updatedAtMs: fromMs, tenant: '' };
    for (;;) {
      const page = await this.store.changedTotals(utcDay, after, PAGE_ROWS);
      for (const { tenant, calls } of page) this.counter.adopt(utcDay, tenant, calls);
      const last = page.at(-1);
      if (last === undefined || page.length < PAGE_ROWS) return;
      after = last;
      await this.pause();
    }
  }
}
