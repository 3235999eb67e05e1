import type { Clock } from '../clock/clock.js';
import { OnceASecond } from '../observability/once-a-second.js';
import { countOf, type QuotaRow } from './quota-row.js';

/** How many tenants are told. */
const TOLD = 10;

/** Rows that are looked at before other work has its turn: a fraction of a millisecond. */
const SLICE_ROWS = 2_000;

/** How much of a day's quota a tenant has used. */
export interface TenantDay {
  /** The fingerprint. */
  readonly tenant: string;
  readonly used: number;
  readonly limit: number;
}

/** The tenants nearest to the end of their quota, the nearest first, and how many have made any call. */
export interface NearestTenants {
  readonly tenants: readonly TenantDay[];
  readonly tenantsToday: number;
}

/**
 * Finds the tenants that are nearest to their quota today: in slices, so that no request waits for it, and at most once
 * a second, one walk at a time, so that whoever asks often pays no more than whoever asks at all.
 */
export class NearestToQuota {
  private readonly found: OnceASecond<NearestTenants>;
  private walking: Promise<NearestTenants> | undefined;

  /**
   * @param rows the rows of today; they may change while they are walked through
   * @param limitOf calls per UTC day that a tenant may make
   * @param pause lets the event loop do something else between slices
   */
  constructor(
    clock: Clock,
    private readonly rows: () => ReadonlyMap<string, Readonly<QuotaRow>>,
    private readonly limitOf: (tenant: string) => number,
    private readonly pause: () => Promise<void>,
  ) {
    this.found = new OnceASecond(() => this.walkOnce(), clock);
  }

  /** What was found within the last second, or is being looked for. */
  read(): Promise<NearestTenants> {
    return this.found.get();
  }

  private walkOnce(): Promise<NearestTenants> {
    this.walking ??= this.walk().finally(() => (this.walking = undefined));
    return this.walking;
  }

  private async walk(): Promise<NearestTenants> {
    const rows = this.rows();
    const tenants: TenantDay[] = [];
    let tenantsToday = 0;
    let looked = 0;
    // What is added meanwhile comes at the end of the map: it is not chased.
    const most = rows.size;
    for (const row of rows.values()) {
      if (looked === most) break;
      looked += 1;
      if (looked % SLICE_ROWS === 0) await this.pause();
      const used = countOf(row);
      if (used <= 0) continue;
      tenantsToday += 1;
      insert(tenants, { tenant: row.tenant, used, limit: this.limitOf(row.tenant) });
    }
    return { tenants, tenantsToday };
  }
}

/** Keeps the list sorted and at its length; for nearly every row this is one comparison. */
function insert(tenants: TenantDay[], day: TenantDay): void {
  const share = day.used / day.limit;
  const last = tenants.at(-1);
  if (tenants.length === TOLD && last !== undefined && last.used / last.limit >= share) return;
  const place = tenants.findIndex(({ used, limit }) => used / limit < share);
  tenants.splice(place < 0 ? tenants.length : place, 0, day);
  if (tenants.length > TOLD) tenants.pop();
}
