import { DatabaseError } from '../../src/control-db/database-error.js';
import type {
  QuotaDelta,
  QuotaStore,
  QuotaTotal,
  StoreAnswer,
  Survey,
  TotalsPosition,
} from '../../src/quota/quota-store.js';
import type { VirtualTime } from './virtual-time.js';

/** The client gives a unit of work up after this. */
const CLIENT_TIMEOUT_MS = 2_000;
/** The server gives up waiting for a lock after this. */
const LOCK_TIMEOUT_MS = 1_000;
/** The server notices that a client is gone after this at the latest. */
const LOST_CLIENT_MS = 30_000;

interface InstanceRow {
  lastBatch: number;
  seenAtMs: number;
}

interface TotalRow {
  calls: number;
  updatedAtMs: number;
}

/** How the network between an instance and the database is at this moment. */
export interface Weather {
  /** Nothing gets through. */
  readonly partitioned: boolean;
  /** The chance, per message, that the connection breaks instead. */
  readonly lossRate: number;
  /** Milliseconds that one message takes. */
  readonly latencyMs: number;
}

/** The tables, the locks and the clock of one database server. */
export class ModelledDatabase {
  readonly instances = new Map<string, InstanceRow>();
  readonly totals = new Map<string, TotalRow>();
  /** Added to the true time; the database's clock may step, too. */
  clockOffsetMs = 0;
  private readonly locks = new Map<string, Promise<void>>();

  constructor(
    readonly time: VirtualTime,
    private readonly epochMs: number,
  ) {}

  nowMs(): number {
    return this.epochMs + this.time.nowMs + this.clockOffsetMs;
  }

  /** Waits for the lock of an instance's row; undefined where that takes too long. */
  async lock(instanceId: string): Promise<(() => void) | undefined> {
    const before = this.locks.get(instanceId);
    if (before !== undefined) {
      const got = await Promise.race([before.then(() => true), this.time.sleep(LOCK_TIMEOUT_MS).then(() => false)]);
      if (!got || this.locks.get(instanceId) !== before) return undefined;
    }
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    this.locks.set(instanceId, held);
    return () => {
      if (this.locks.get(instanceId) === held) this.locks.delete(instanceId);
      release();
    };
  }

  /** The stored calls of a tenant on a day. */
  callsOf(utcDay: number, tenant: string): number {
    return this.totals.get(`${utcDay} ${tenant}`)?.calls ?? 0;
  }
}

/** One instance's connection to the database, through its own weather. */
export class ModelledStore implements QuotaStore {
  readonly batchRows = 2_000;
  /** The instance has crashed: no answer reaches it any more. */
  dead = false;
  /** The instance has closed its connection: whatever it still waits for fails. */
  closed = false;

  /** @param applied told of every batch at the moment it is committed */
  constructor(
    private readonly database: ModelledDatabase,
    private readonly weather: () => Weather,
    private readonly random: () => number,
    private readonly applied: (deltas: readonly QuotaDelta[]) => void,
  ) {}

  register(instanceId: string): Promise<void> {
    return this.simple(() => {
      const row = this.database.instances.get(instanceId);
      if (row === undefined) this.database.instances.set(instanceId, { lastBatch: 0, seenAtMs: this.database.nowMs() });
      else row.seenAtMs = this.database.nowMs();
    });
  }

  touch(instanceId: string): Promise<boolean> {
    return this.simple(() => {
      const row = this.database.instances.get(instanceId);
      if (row !== undefined) row.seenAtMs = this.database.nowMs();
      return row !== undefined;
    });
  }

  leave(instanceId: string): Promise<void> {
    return this.simple(() => void this.database.instances.delete(instanceId));
  }

  survey(aliveMs: number): Promise<Survey> {
    return this.simple(() => {
      const nowMs = this.database.nowMs();
      const live = [...this.database.instances.values()].filter((row) => row.seenAtMs >= nowMs - aliveMs);
      return { nowMs, liveInstances: live.length };
    });
  }

  changedTotals(utcDay: number, after: TotalsPosition, max: number): Promise<QuotaTotal[]> {
    return this.simple(() =>
      this.ofDay(utcDay)
        .filter((total) => isBehind(total, after))
        .toSorted((a, b) => (isBehind(a, b) ? 1 : -1))
        .slice(0, max),
    );
  }

  totalsOf(utcDay: number, tenants: readonly string[]): Promise<QuotaTotal[]> {
    return this.simple(() => this.ofDay(utcDay).filter((total) => tenants.includes(total.tenant)));
  }

  store(instanceId: string, number: number, deltas: readonly QuotaDelta[]): Promise<StoreAnswer> {
    const progress = { committing: false, abandoned: false };
    return this.limited(this.transaction(instanceId, number, deltas, progress), progress);
  }

  /** The transaction as the server lives through it: statements, stamp, COMMIT, each on its own way over the network. */
  private async transaction(
    instanceId: string,
    number: number,
    deltas: readonly QuotaDelta[],
    progress: { committing: boolean; abandoned: boolean },
  ): Promise<StoreAnswer> {
    await this.message('not-stored');
    const release = await this.database.lock(instanceId);
    if (release === undefined) throw new DatabaseError('LOCK_TIMEOUT', 'not-stored');
    let lost = false;
    try {
      const row = this.database.instances.get(instanceId);
      if (row === undefined) return 'missing';
      if (row.lastBatch >= number) return 'already';
      const stampMs = this.database.nowMs();
      // The answers to the statements, and the way of the COMMIT.
      await this.message('not-stored');
      if (progress.abandoned || this.dead || this.closed) throw new DatabaseError('ABANDONED', 'not-stored');
      progress.committing = true;
      await this.message('unknown');
      row.lastBatch = number;
      row.seenAtMs = this.database.nowMs();
      this.apply(deltas, stampMs);
    } catch (error) {
      lost = true;
      throw error;
    } finally {
      // A broken connection is noticed at once, or only when the server's own limit is reached.
      if (lost && this.random() < 0.5) this.database.time.after(this.random() * LOST_CLIENT_MS, release);
      else release();
    }
    await this.message('unknown');
    return 'stored';
  }

  private apply(deltas: readonly QuotaDelta[], stampMs: number): void {
    for (const { tenant, utcDay, calls } of deltas) {
      const key = `${utcDay} ${tenant}`;
      const before = this.database.totals.get(key)?.calls ?? 0;
      this.database.totals.set(key, { calls: before + calls, updatedAtMs: stampMs });
    }
    this.applied(deltas);
  }

  private ofDay(utcDay: number): QuotaTotal[] {
    const totals: QuotaTotal[] = [];
    for (const [key, { calls, updatedAtMs }] of this.database.totals) {
      const [day, tenant] = key.split(' ') as [string, string];
      if (Number(day) === utcDay) totals.push({ tenant, calls, updatedAtMs });
    }
    return totals;
  }

  private simple<T>(work: () => T): Promise<T> {
    const steps = async () => {
      await this.message('not-stored');
      const result = work();
      await this.message('not-stored');
      return result;
    };
    return this.limited(steps(), { committing: false, abandoned: false });
  }

  /** One message on its way: it takes its time, or it breaks the connection, or it is lost. */
  private async message(outcome: 'not-stored' | 'unknown'): Promise<void> {
    const { partitioned, lossRate, latencyMs } = this.weather();
    await this.database.time.sleep(latencyMs);
    if (partitioned || this.weather().partitioned) {
      // Lost, or delivered long after the client has given up; the server keeps waiting, and its locks, until then.
      await this.database.time.sleep(this.random() * LOST_CLIENT_MS);
      if (outcome === 'unknown' && this.random() < 0.3) return;
      throw new DatabaseError('CLIENT_GONE', outcome);
    }
    if (this.random() < lossRate) throw new DatabaseError('ECONNRESET', outcome);
  }

  /** The client's own time limit, which knows no more than whether COMMIT was sent. */
  private limited<T>(work: Promise<T>, progress: { committing: boolean; abandoned: boolean }): Promise<T> {
    work.catch(() => undefined);
    return new Promise<T>((resolve, reject) => {
      const stop = this.database.time.after(CLIENT_TIMEOUT_MS, () => {
        progress.abandoned = true;
        if (!this.dead) reject(new DatabaseError('TIMEOUT', progress.committing ? 'unknown' : 'not-stored'));
      });
      const settle = (done: () => void) => {
        stop();
        if (!this.dead) done();
      };
      work.then(
        (value) => settle(() => (this.closed ? reject(new DatabaseError('CLOSED', 'not-stored')) : resolve(value))),
        (error: Error) => settle(() => reject(error)),
      );
    });
  }
}

function isBehind(total: TotalsPosition, after: TotalsPosition): boolean {
  if (total.updatedAtMs !== after.updatedAtMs) return total.updatedAtMs > after.updatedAtMs;
  return total.tenant > after.tenant;
}
