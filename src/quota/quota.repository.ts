import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { ControlDatabaseService } from '../control-db/control-database.service.js';
import { DatabaseError } from '../control-db/database-error.js';
import { QuotaInstance } from '../control-db/quota-instance.entity.js';
import { QuotaUsage } from '../control-db/quota-usage.entity.js';
import { wholeNumber } from '../control-db/whole-number.js';
import { addDeltasSql, deleteUsageSql } from './quota-sql.js';
import type { QuotaDelta, QuotaStore, QuotaTotal, StoreAnswer, Survey, TotalsPosition } from './quota-store.js';
import { DAY_MS, utcDayText } from './utc-day.js';

/** Rows of one INSERT: few round trips, and far from any database's limit of parameters. */
const ROWS_PER_STATEMENT = 500;

/** Rows of one transaction. The embedded file works in this process, and a transaction of it is one turn of the loop. */
const BATCH_ROWS = { embedded: 500, server: 2_000 };

interface RawTotal {
  tenant: string;
  calls: unknown;
  updatedAt: unknown;
}

/** The shared totals and the instances' batches in the control database. */
@Injectable()
export class QuotaRepository implements QuotaStore {
  constructor(private readonly database: ControlDatabaseService) {}

  get batchRows(): number {
    return this.database.dialect.embedded ? BATCH_ROWS.embedded : BATCH_ROWS.server;
  }

  register(instanceId: string): Promise<void> {
    const { nowMs, placeholder } = this.database.dialect;
    return this.database.run(async (manager) => {
      if (await this.stamp(manager, instanceId)) return;
      await manager.query(
        `INSERT INTO quota_instance (instance_id, last_batch, seen_at) VALUES (${placeholder(1)}, 0, ${nowMs})`,
        [instanceId],
      );
    });
  }

  touch(instanceId: string): Promise<boolean> {
    return this.database.run((manager) => this.stamp(manager, instanceId));
  }

  leave(instanceId: string): Promise<void> {
    return this.database.run(async (manager) => {
      await manager.getRepository(QuotaInstance).createQueryBuilder().delete().where({ instanceId }).execute();
    });
  }

  store(instanceId: string, number: number, deltas: readonly QuotaDelta[]): Promise<StoreAnswer> {
    return this.database.transaction(async (manager) => {
      const instances = manager.getRepository(QuotaInstance).createQueryBuilder();
      const { affected } = await instances
        .update()
        .set({ lastBatch: number, seenAt: () => this.database.dialect.nowMs })
        .where('instance_id = :instanceId AND last_batch < :number', { instanceId, number })
        .execute();
      if (affected !== 1) return this.answerOf(manager, instanceId, number);
      for (let start = 0; start < deltas.length; start += ROWS_PER_STATEMENT) {
        await this.addDeltas(manager, deltas.slice(start, start + ROWS_PER_STATEMENT));
      }
      return 'stored';
    });
  }

  survey(aliveMs: number): Promise<Survey> {
    const { nowMs, placeholder } = this.database.dialect;
    return this.database.run(async (manager) => {
      const [row] = await manager.query<[{ now_ms: unknown; live: unknown }]>(
        `SELECT ${nowMs} AS now_ms, ` +
          `(SELECT COUNT(*) FROM quota_instance WHERE seen_at >= ${nowMs} - ${placeholder(1)}) AS live`,
        [aliveMs],
      );
      return { nowMs: wholeNumber(row.now_ms), liveInstances: wholeNumber(row.live) };
    });
  }

  changedTotals(utcDay: number, after: TotalsPosition, max: number): Promise<QuotaTotal[]> {
    return this.database.run(async (manager) => {
      const rows = await this.totals(manager, utcDay)
        .andWhere('u.updatedAt >= :from AND (u.updatedAt > :from OR u.tenant > :tenant)', {
          from: after.updatedAtMs,
          tenant: after.tenant,
        })
        .orderBy('u.updatedAt')
        .addOrderBy('u.tenant')
        .limit(max)
        .getRawMany<RawTotal>();
      return rows.map(totalOf);
    });
  }

  totalsOf(utcDay: number, tenants: readonly string[]): Promise<QuotaTotal[]> {
    if (tenants.length === 0) return Promise.resolve([]);
    return this.database.run(async (manager) => {
      const rows = await this.totals(manager, utcDay)
        .andWhere('u.tenant IN (:...tenants)', { tenants })
        .getRawMany<RawTotal>();
      return rows.map(totalOf);
    });
  }

  /**
   * Removes up to `max` rows of days more than `retentionDays` before the database's today.
   * @returns how many were removed
   */
  deleteOldUsage(retentionDays: number, max: number): Promise<number> {
    return this.database.run(async (manager) => {
      const today = Math.floor((await this.nowMs(manager)) / DAY_MS);
      const sql = deleteUsageSql(this.database.dialect, max);
      return affectedRows(manager, sql, [utcDayText(today - retentionDays)]);
    });
  }

  /**
   * Removes the rows of instances that were not seen for `ageMs`.
   * @returns how many were removed
   */
  deleteOldInstances(ageMs: number): Promise<number> {
    return this.database.run(async (manager) => {
      const before = (await this.nowMs(manager)) - ageMs;
      const deletion = manager.getRepository(QuotaInstance).createQueryBuilder().delete();
      return (await deletion.where('seen_at < :before', { before }).execute()).affected ?? 0;
    });
  }

  private async stamp(manager: EntityManager, instanceId: string): Promise<boolean> {
    const { affected } = await manager
      .getRepository(QuotaInstance)
      .createQueryBuilder()
      .update()
      .set({ seenAt: () => this.database.dialect.nowMs })
      .where('instance_id = :instanceId', { instanceId })
      .execute();
    return affected === 1;
  }

  /** Why no row was changed; read with a lock, because a snapshot may be older than the lock that was waited for. */
  private async answerOf(manager: EntityManager, instanceId: string, number: number): Promise<StoreAnswer> {
    const query = manager.getRepository(QuotaInstance).createQueryBuilder('i').where({ instanceId });
    if (!this.database.dialect.embedded) query.setLock('pessimistic_write');
    const row = await query.getOne();
    if (row === null) return 'missing';
    if (row.lastBatch >= number) return 'already';
    throw new DatabaseError('BATCH_ROW_UNCHANGED', 'not-stored');
  }

  private async addDeltas(manager: EntityManager, deltas: readonly QuotaDelta[]): Promise<void> {
    const parameters = deltas.flatMap(({ tenant, utcDay, calls }) => [tenant, utcDayText(utcDay), calls]);
    await manager.query(addDeltasSql(this.database.dialect, deltas.length), parameters);
  }

  private totals(manager: EntityManager, utcDay: number) {
    return manager
      .getRepository(QuotaUsage)
      .createQueryBuilder('u')
      .select('u.tenant', 'tenant')
      .addSelect('u.calls', 'calls')
      .addSelect('u.updatedAt', 'updatedAt')
      .where('u.utcDay = :day', { day: utcDayText(utcDay) });
  }

  private async nowMs(manager: EntityManager): Promise<number> {
    const [row] = await manager.query<[{ now_ms: unknown }]>(`SELECT ${this.database.dialect.nowMs} AS now_ms`);
    return wholeNumber(row.now_ms);
  }
}

function totalOf(row: RawTotal): QuotaTotal {
  return { tenant: row.tenant, calls: wholeNumber(row.calls), updatedAtMs: wholeNumber(row.updatedAt) };
}

async function affectedRows(manager: EntityManager, sql: string, parameters: unknown[]): Promise<number> {
  const result = await manager.queryRunner?.query(sql, parameters, true);
  return result?.affected ?? 0;
}
