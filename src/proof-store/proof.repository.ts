import { Injectable } from '@nestjs/common';
import { ControlDatabaseService } from '../control-db/control-database.service.js';
import { ProvenCredentialRow } from '../control-db/proven-credential.entity.js';
import { wholeNumber } from '../control-db/whole-number.js';
import { bringBackSql, deleteProofsSql, writeProofsSql } from './proof-sql.js';
import type { ProofPosition, ProofRow, ProofSurvey, ProofTable } from './proof-table.js';
import type { StoredProof } from './stored-proof.js';

/** One statement each: few round trips, far from any limit of parameters, and one short turn of the embedded file. */
const BATCH_ROWS = 500;

/** The proofs in the control database. Every method rejects with a DatabaseError after two seconds at the most. */
@Injectable()
export class ProofRepository implements ProofTable {
  readonly batchRows = BATCH_ROWS;

  constructor(private readonly database: ControlDatabaseService) {}

  async survey(): Promise<ProofSurvey> {
    const sql =
      `SELECT ${this.database.dialect.nowMs} AS now_ms, ` +
      '(SELECT MAX(updated_at) FROM proven_credential) AS newest_ms';
    const [row] = await this.database.run((manager) => manager.query<[{ now_ms: unknown; newest_ms: unknown }]>(sql));
    return { nowMs: wholeNumber(row.now_ms), newestMs: wholeNumber(row.newest_ms ?? 0) };
  }

  async write(rows: readonly StoredProof[]): Promise<void> {
    const parameters = rows.flatMap(({ fingerprint, tenant, acceptedMs, usedMs, rejectedMs }) => [
      fingerprint,
      tenant,
      acceptedMs,
      usedMs,
      rejectedMs,
    ]);
    const sql = writeProofsSql(this.database.dialect, rows.length);
    await this.database.transaction((manager) => manager.query(sql, parameters));
  }

  async read(fromMs: number, before: ProofPosition | undefined, max: number): Promise<ProofRow[]> {
    const rows = await this.database.run((manager) => {
      const query = manager.getRepository(ProvenCredentialRow).createQueryBuilder('p');
      query.where('p.updatedAt >= :fromMs', { fromMs });
      if (before !== undefined) {
        query.andWhere('p.updatedAt <= :at AND (p.updatedAt < :at OR p.fingerprint < :fingerprint)', {
          at: before.updatedAtMs,
          fingerprint: before.fingerprint,
        });
      }
      return query.orderBy('p.updatedAt', 'DESC').addOrderBy('p.fingerprint', 'DESC').limit(max).getMany();
    });
    return rows.map(rowOf);
  }

  async bringBack(nowMs: number, afterMs: number): Promise<void> {
    const sql = bringBackSql(this.database.dialect);
    await this.database.transaction((manager) => manager.query(sql, [nowMs, nowMs, nowMs, nowMs, afterMs]));
  }

  async deleteOld(beforeMs: number, max: number): Promise<number> {
    const sql = deleteProofsSql(this.database.dialect, max);
    return this.database.run(async (manager) => {
      const result = await manager.queryRunner?.query(sql, [beforeMs], true);
      return result?.affected ?? 0;
    });
  }
}

function rowOf(row: ProvenCredentialRow): ProofRow {
  const { fingerprint, tenant, acceptedAt, usedAt, rejectedAt, updatedAt } = row;
  return {
    fingerprint,
    tenant,
    acceptedMs: acceptedAt,
    usedMs: usedAt,
    rejectedMs: rejectedAt,
    updatedAtMs: updatedAt,
  };
}
