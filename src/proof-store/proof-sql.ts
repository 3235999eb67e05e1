import type { SqlDialect } from '../control-db/sql-dialect.js';

const TIMES = ['accepted_at', 'used_at', 'rejected_at'];

/**
 * Stores `rows` proofs, the later of every two times; parameters are fingerprint, tenant and the three times of each row
 * in turn. The query builder can overwrite but not compare.
 */
export function writeProofsSql(dialect: SqlDialect, rows: number): string {
  const width = 2 + TIMES.length;
  const values: string[] = [];
  for (let row = 0; row < rows; row += 1) {
    const parameters = Array.from({ length: width }, (_, at) => dialect.placeholder(row * width + at + 1));
    values.push(`(${parameters.join(', ')}, ${dialect.nowMs})`);
  }
  const columns = ['fingerprint', 'tenant', ...TIMES, 'updated_at'].join(', ');
  return `INSERT INTO proven_credential (${columns}) VALUES ${values.join(', ')} ${dialect.onProofConflict}`;
}

/** What `ProofTable.bringBack` says; parameters are four times now, then the moment after which rows were written. */
export function bringBackSql({ least, placeholder }: SqlDialect): string {
  const sets = [
    `accepted_at = CASE WHEN accepted_at > ${placeholder(1)} THEN 0 ELSE accepted_at END`,
    `used_at = ${least}(used_at, ${placeholder(2)})`,
    `rejected_at = ${least}(rejected_at, ${placeholder(3)})`,
    `updated_at = ${placeholder(4)}`,
  ];
  return `UPDATE proven_credential SET ${sets.join(', ')} WHERE updated_at > ${placeholder(5)}`;
}

/** Removes up to `max` rows written before the moment that is its one parameter. */
export function deleteProofsSql(dialect: SqlDialect, max: number): string {
  const where = `updated_at < ${dialect.placeholder(1)}`;
  const order = `ORDER BY updated_at, fingerprint LIMIT ${max}`;
  if (dialect.deletesInOrder) return `DELETE FROM proven_credential WHERE ${where} ${order}`;
  const chosen = `SELECT fingerprint FROM proven_credential WHERE ${where} ${order}`;
  return `DELETE FROM proven_credential WHERE fingerprint IN (${chosen})`;
}
