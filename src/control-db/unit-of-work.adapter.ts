import type { DataSource, EntityManager, QueryRunner } from 'typeorm';
import { DatabaseError, errorCode } from './database-error.js';
import type { SqlDialect } from './sql-dialect.js';

/** How a unit of work is run. */
export interface UnitOptions {
  readonly dialect: SqlDialect;
  readonly transaction: boolean;
  /** For everything together, waiting for a connection included. */
  readonly timeoutMs: number;
  /** Called where the connection's state is unknown and it has no socket to cut. */
  readonly onBroken: () => void;
}

/** The parts of the drivers' connections that we need; TypeORM hands them out untyped. */
interface RawConnection {
  /**
   * The embedded file's handle alone has these: statements that leave nothing prepared behind, whatever they come to.
   */
  exec?(sql: string): unknown;
  readonly open?: boolean;
  readonly inTransaction?: boolean;
  readonly stream?: { destroy(): void };
  readonly connection?: { readonly stream?: { destroy(): void } };
}

/** Connections whose session is set up; it lives as long as they do. */
const PREPARED = new WeakSet<object>();

/**
 * Takes a connection's socket away. Both drivers then fail what is in progress and take the connection out of their
 * pool; a connection in an unknown state never serves another unit of work.
 */
function cutConnection(raw: RawConnection | undefined): void {
  (raw?.connection?.stream ?? raw?.stream)?.destroy();
}

/** One statement or one transaction on one connection, with a time limit and a known outcome. */
class UnitOfWork {
  private readonly runner: QueryRunner;
  private raw: RawConnection | undefined;
  private expired = false;
  private committing = false;

  constructor(
    dataSource: DataSource,
    private readonly options: UnitOptions,
  ) {
    this.runner = dataSource.createQueryRunner();
  }

  async run<T>(work: (manager: EntityManager) => Promise<T>): Promise<T> {
    let timer: NodeJS.Timeout | undefined;
    const expiry = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        this.expired = true;
        reject(new DatabaseError('TIMEOUT', this.outcome));
        this.abandon();
      }, this.options.timeoutMs);
    });
    try {
      const steps = this.steps(work);
      // Once the time is up nobody listens to the steps any more.
      steps.catch(() => undefined);
      return await Promise.race([steps, expiry]);
    } catch (error) {
      throw error instanceof DatabaseError ? error : new DatabaseError(errorCode(error), this.outcome);
    } finally {
      clearTimeout(timer);
    }
  }

  /**
   * Ends a unit whose time is up, at once: what it still does must get into nobody else's transaction, and not into the
   * file either. The file's lock is let go before its handle is closed.
   */
  private abandon(): void {
    cutConnection(this.raw);
    if (!this.options.dialect.embedded) return;
    // The file has one runner, whose prepared statements outlive the handle; it takes none of them from here on.
    Object.assign(this.runner, { isReleased: true });
    try {
      if (this.holdsFile) this.raw?.exec?.('ROLLBACK');
    } catch {
      // Closing the handle ends the transaction as well.
    }
    this.options.onBroken();
  }

  /** Only of an open handle may this be asked: libsql ends the whole process where a closed one is. */
  private get holdsFile(): boolean {
    return this.raw?.open === true && this.raw.inTransaction === true;
  }

  private get outcome() {
    return this.committing ? 'unknown' : 'not-stored';
  }

  private async steps<T>(work: (manager: EntityManager) => Promise<T>): Promise<T> {
    try {
      this.raw = (await this.runner.connect()) as RawConnection | undefined;
      this.refuseWhenExpired();
      await this.setUpSession();
      if (this.options.dialect.embedded) return await this.onFile(work);
      if (this.options.transaction) return await this.inTransaction(work);
      // Each statement is its own COMMIT.
      this.committing = true;
      return await work(this.runner.manager);
    } catch (error) {
      await this.cleanUp();
      throw error;
    } finally {
      await this.runner.release();
    }
  }

  /**
   * A unit on the embedded file takes the file's lock before its first statement, whether or not it was asked for a
   * transaction: a prepared statement that fails because the file is busy stays open in the driver, and no COMMIT of
   * this connection succeeds until it is collected.
   */
  private async onFile<T>(work: (manager: EntityManager) => Promise<T>): Promise<T> {
    this.raw?.exec?.('BEGIN IMMEDIATE');
    const result = await work(this.runner.manager);
    this.refuseWhenExpired();
    this.committing = true;
    this.raw?.exec?.('COMMIT');
    return result;
  }

  private async inTransaction<T>(work: (manager: EntityManager) => Promise<T>): Promise<T> {
    const { transactionSetup } = this.options.dialect;
    await this.runner.startTransaction();
    if (transactionSetup !== undefined) await this.runner.query(transactionSetup);
    const result = await work(this.runner.manager);
    this.refuseWhenExpired();
    this.committing = true;
    await this.runner.commitTransaction();
    return result;
  }

  /** Nothing may be sent, COMMIT least of all, once the caller was told that it is over. */
  private refuseWhenExpired(): void {
    if (this.expired) throw new DatabaseError('TIMEOUT', 'not-stored');
  }

  private async setUpSession(): Promise<void> {
    const { sessionSetup } = this.options.dialect;
    if (sessionSetup === undefined || this.raw === undefined || PREPARED.has(this.raw)) return;
    await this.runner.query(sessionSetup);
    PREPARED.add(this.raw);
  }

  private async cleanUp(): Promise<void> {
    const { embedded } = this.options.dialect;
    if (this.expired && embedded) return;
    if (!this.expired && !this.runner.isTransactionActive && !this.holdsFile) return;
    try {
      if (this.expired) throw new DatabaseError('TIMEOUT', this.outcome);
      if (embedded) this.raw?.exec?.('ROLLBACK');
      else await this.runner.rollbackTransaction();
    } catch {
      if (embedded) this.options.onBroken();
      cutConnection(this.raw);
    }
  }
}

/**
 * Runs `work` on one connection of its own, which awaits nothing but its own statements.
 * @throws {DatabaseError} whatever goes wrong, with what is known of its outcome
 */
export function runUnitOfWork<T>(
  dataSource: DataSource,
  options: UnitOptions,
  work: (manager: EntityManager) => Promise<T>,
): Promise<T> {
  return new UnitOfWork(dataSource, options).run(work);
}
