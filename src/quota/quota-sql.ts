import type { SqlDialect } from '../control-db/sql-dialect.js';

/**
 * Adds `rows` deltas to the stored totals; parameters are tenant, day and calls of each row in turn. The query builder
 * can overwrite but not add. `VALUES()` rather than a row alias, which MariaDB lacks.
 */
export function addDeltasSql(dialect: SqlDialect, rows: number): string {
  const values: string[] = [];
  for (let row = 0; row < rows; row += 1) {
    const at = row * 3;
    const [tenant, day, calls] = [
      dialect.placeholder(at + 1),
      dialect.placeholder(at + 2),
      dialect.placeholder(at + 3),
    ];
    values.push(`(${tenant}, ${day}, ${calls}, ${dialect.nowMs})`);
  }
  const insert = `INSERT INTO quota_usage (tenant, utc_day, calls, updated_at) VALUES ${values.join(', ')}`;
  return `${insert} ${dialect.onUsageConflict}`;
}

/** Removes up to `max` rows before the day that is its one parameter. */
export function deleteUsageSql(dialect: SqlDialect, max: number): string {
  const where = `utc_day < ${dialect.placeholder(1)}`;
  // The index of the incremental reads begins with the day.
  const order = `ORDER BY utc_day, updated_at, tenant LIMIT ${max}`;
  if (dialect.deletesInOrder) return `DELETE FROM quota_usage WHERE ${where} ${order}`;
  const chosen = `SELECT tenant, utc_day FROM quota_usage WHERE ${where} ${order}`;
  return `DELETE FROM quota_usage WHERE (tenant, utc_day) IN (${chosen})`;
}
