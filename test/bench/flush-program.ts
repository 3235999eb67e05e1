// One flush through the quota's own repository, in a process of its own: how long, how many statements, and how long the
// event loop was held in one go.
import 'reflect-metadata';
import { Logger } from '@nestjs/common';
import { ControlDatabaseService } from '../../src/control-db/control-database.service.js';
import { QuotaRepository } from '../../src/quota/quota.repository.js';
import { addDeltasSql } from '../../src/quota/quota-sql.js';
import type { QuotaDelta } from '../../src/quota/quota-store.js';
import { utcDayText } from '../../src/quota/utc-day.js';
import { longestHoldMs } from '../support/longest-hold.js';
import { AbstractSqliteQueryRunner } from 'typeorm/driver/sqlite-abstract/AbstractSqliteQueryRunner.js';
import { BetterSqlite3QueryRunner } from 'typeorm/driver/better-sqlite3/BetterSqlite3QueryRunner.js';
import { MysqlQueryRunner } from 'typeorm/driver/mysql/MysqlQueryRunner.js';

/** What is flushed, where, and how. */
export interface FlushOrder {
  readonly url: string;
  readonly tenants: number;
  /** `product`: in batches, many rows a statement. `row by row`: the same batches, one statement a row. */
  readonly how: 'product' | 'row by row';
}

/** What came of it. */
export interface FlushResult {
  readonly milliseconds: number;
  readonly statements: number;
  readonly transactions: number;
  /** The longest time of this process's own CPU that one turn of the event loop took. */
  readonly longestHoldMs: number;
}

let statements = 0;
for (const runner of [BetterSqlite3QueryRunner, MysqlQueryRunner, AbstractSqliteQueryRunner]) {
  const prototype = runner.prototype as { query?: (...args: unknown[]) => unknown };
  if (!Object.hasOwn(prototype, 'query')) continue;
  const query = prototype.query;
  prototype.query = function (...args) {
    statements += 1;
    return query?.apply(this, args);
  };
}

async function connected(url: string): Promise<ControlDatabaseService> {
  const database = new ControlDatabaseService({ controlDbUrl: url });
  const ready = new Promise<void>((resolve) => database.listen({ connected: () => resolve() }));
  database.open();
  await ready;
  return database;
}

Logger.overrideLogger(false);

async function flush({ url, tenants, how }: FlushOrder): Promise<FlushResult> {
  const database = await connected(url);
  const repository = new QuotaRepository(database);
  const instance = `bench-${process.pid}`;
  await repository.register(instance);
  const utcDay = Math.floor(Date.now() / 86_400_000);
  const deltas: QuotaDelta[] = [];
  for (let n = 0; n < tenants; n += 1) deltas.push({ tenant: n.toString(16).padStart(64, '0'), utcDay, calls: 3 });
  const store = (number: number, batch: readonly QuotaDelta[]): Promise<unknown> => {
    if (how === 'product') return repository.store(instance, number, batch);
    return database.transaction(async (manager) => {
      const sql = addDeltasSql(database.dialect, 1);
      for (const { tenant, calls } of batch) await manager.query(sql, [tenant, utcDayText(utcDay), calls]);
    });
  };
  statements = 0;
  let transactions = 0;
  const startedMs = performance.now();
  const hold = await longestHoldMs(async () => {
    for (let at = 0; at < tenants; at += repository.batchRows) {
      transactions += 1;
      // As between two batches of the product's flush.
      await new Promise((resolve) => setImmediate(resolve));
      await store(transactions, deltas.slice(at, at + repository.batchRows));
    }
  });
  const milliseconds = performance.now() - startedMs;
  const result = { milliseconds, statements, transactions, longestHoldMs: hold };
  await database.onApplicationShutdown();
  return result;
}

process.on('message', (order: FlushOrder) => {
  flush(order).then(
    (result) => process.send?.(result),
    (error: unknown) => {
      process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`);
      process.exit(1);
    },
  );
});
