import { type DataSource, MigrationExecutor, type QueryRunner } from 'typeorm';
import type { Dialect } from './sql-dialect.js';
import { DIALECTS } from './sql-dialect.js';

/** Told, as a sentence, what takes long here. */
export type Say = (sentence: string) => void;

/** Runs what has not been run yet, under the lock. */
async function migrateNow(dataSource: DataSource, transaction: 'each' | 'none', say: Say): Promise<void> {
  const pending = await new MigrationExecutor(dataSource).getPendingMigrations();
  if (pending.length === 0) return;
  const begunMs = performance.now();
  const names = pending.map(({ name }) => name).join(', ');
  const count = pending.length === 1 ? '1 migration' : `${pending.length} migrations`;
  say(`Running ${count}: ${names}.`);
  await dataSource.runMigrations({ transaction });
  say(`Ran ${count} in ${((performance.now() - begunMs) / 1_000).toFixed(1)} s.`);
}

async function migrateEmbedded(dataSource: DataSource, say: Say): Promise<void> {
  const { begin, release } = DIALECTS.sqlite.migrationLock;
  const runner = dataSource.createQueryRunner();
  for (const statement of begin) await runner.query(statement);
  try {
    // The one connection holds the file's write lock already, so TypeORM must not open a transaction inside.
    await migrateNow(dataSource, 'none', say);
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

async function takeLock(runner: QueryRunner, dialect: 'mysql' | 'postgres', say: Say): Promise<void> {
  const { begin, attempt = '', wait = '' } = DIALECTS[dialect].migrationLock;
  for (const statement of begin) await runner.query(statement);
  const answer: unknown = await runner.query(attempt).catch(ignoreOn(dialect));
  const [row] = Array.isArray(answer) ? (answer as { taken?: unknown }[]) : [];
  if (row === undefined || Number(row.taken) === 1) return;
  say('Another instance is running migrations: waiting for it, for 30 s at the most.');
  await runner.query(wait).catch(ignoreOn(dialect));
}

async function migrateServer(dataSource: DataSource, dialect: 'mysql' | 'postgres', say: Say): Promise<void> {
  const lock = dataSource.createQueryRunner();
  try {
    await takeLock(lock, dialect, say);
    await migrateNow(dataSource, 'each', say);
    await lock.query(DIALECTS[dialect].migrationLock.release).catch(ignoreOn(dialect));
  } finally {
    await lock.release();
  }
}

/**
 * Brings the tables up to date, one instance at a time: the others wait for its lock and then find the work done.
 * Should a server not know the lock, the steps are still such that doing them twice does no harm. Says what it runs and
 * what it waits for, and nothing where nothing is to be done.
 */
export function migrate(dataSource: DataSource, dialect: Dialect, say: Say): Promise<void> {
  return dialect === 'sqlite' ? migrateEmbedded(dataSource, say) : migrateServer(dataSource, dialect, say);
}
