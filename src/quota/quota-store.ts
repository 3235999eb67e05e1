/** Calls of one tenant on one UTC day that are to be added to the stored total; below 0 where calls were given back. */
export interface QuotaDelta {
  readonly tenant: string;
  /** Days since the Unix epoch. */
  readonly utcDay: number;
  readonly calls: number;
}

/** A stored total over all instances. */
export interface QuotaTotal {
  readonly tenant: string;
  readonly calls: number;
  /** Milliseconds since the Unix epoch by the database's clock. */
  readonly updatedAtMs: number;
}

/** How far a read of changed totals has come: they are read in the order of this pair. */
export type TotalsPosition = Pick<QuotaTotal, 'updatedAtMs' | 'tenant'>;

/**
 * What became of a batch: `stored` now; `already` stored under this number or a later one; `missing`: the instance has
 * no row, and nothing was stored.
 */
export type StoreAnswer = 'stored' | 'already' | 'missing';

/** What the database says of itself and of the instances that use it. */
export interface Survey {
  /** The database's clock, milliseconds since the Unix epoch. */
  readonly nowMs: number;
  readonly liveInstances: number;
}

/**
 * Where the shared totals are. Every method rejects where the database did not do its part in time; a
 * `DatabaseError` says whether a batch may be stored all the same, any other error counts as "it may".
 */
export interface QuotaStore {
  /** Rows of one batch at the most: one short transaction each, so that nobody waits long for it. */
  readonly batchRows: number;
  /** Makes the instance known, with no batch stored; known already, it is only seen again. */
  register(instanceId: string): Promise<void>;
  /** Stamps the instance as seen; false where it has no row. */
  touch(instanceId: string): Promise<boolean>;
  /** Takes the instance out of the live ones; nothing more is stored under its id. */
  leave(instanceId: string): Promise<void>;
  /** Adds the deltas in one transaction, if batch `number` of this instance is not stored yet. */
  store(instanceId: string, number: number, deltas: readonly QuotaDelta[]): Promise<StoreAnswer>;
  /** @param aliveMs how long ago a live instance was seen at most */
  survey(aliveMs: number): Promise<Survey>;
  /** Up to `max` totals of the day that stand behind `after`, in order. */
  changedTotals(utcDay: number, after: TotalsPosition, max: number): Promise<QuotaTotal[]>;
  /** The totals of these tenants on the day, of those that have one. */
  totalsOf(utcDay: number, tenants: readonly string[]): Promise<QuotaTotal[]>;
}
