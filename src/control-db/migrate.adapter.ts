import type { DataSource, QueryRunner } from 'typeorm';
import type { Dialect } from './sql-dialect.js';
import { DIALECTS } from './sql-dialect.js';

async function migrateEmbedded(dataSource: DataSource): Promise<void> {
  const { take, release } = DIALECTS.sqlite.migrationLock;
  const runner = dataSource.createQueryRunner();
  for (const statement of take) await runner.query(statement);
  try {
    // The one connection holds the file's write lock already, so TypeORM must not open a transaction inside.
    await dataSource.runMigrations({ transaction: 'none' });
    await runner.query(release);
  } catch (error) {
    await runner.query('ROLLBACK');
    throw error;
  }
}

/** Not every server that speaks MySQL's protocol has named locks; there idempotent steps have to do. */
function ignoreOn(dialect: Dialect): (error: unknown) => void {
  return (error) => {
    if (dialect !== 'mysql') throw error;
  };
}

async function takeLock(runner: QueryRunner, statements: readonly string[], dialect: Dialect): Promise<void> {
  for (const statement of statements) await runner.query(statement).catch(ignoreOn(dialect));
}

async function migrateServer(dataSource: DataSource, dialect: 'mysql' | 'postgres'): Promise<void> {
  const { take, release } = DIALECTS[dialect].migrationLock;
  const lock = dataSource.createQueryRunner();
  try {
    await takeLock(lock, take, dialect);
    await dataSource.runMigrations({ transaction: 'each' });
    await lock.query(release).catch(ignoreOn(dialect));
  } finally {
    await lock.release();
  }
}

/**
 * Brings the tables up to date, one instance at a time: the others wait for its lock and then find the work done.
 * Should a server not know the lock, the steps are still such that doing them twice does no harm.
 */
export function migrate(dataSource: DataSource, dialect: Dialect): Promise<void> {
  return dialect === 'sqlite' ? migrateEmbedded(dataSource) : migrateServer(dataSource, dialect);
}
