import { Inject, Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { CONFIG, type Config } from '../config/config.js';
import { type ControlDbOptions, describeControlDb, parseControlDbUrl } from '../config/control-db-url.js';
import { backoffMs } from './backoff.js';
import { connectAdvice } from './connect-advice.js';
import { type ControlConnection, createControlConnection } from './data-source.adapter.js';
import { DatabaseError, errorCode, isBusy, isSchemaMissing } from './database-error.js';
import { migrate } from './migrate.adapter.js';
import { SerialQueue } from './serial-queue.js';
import { DIALECTS, type SqlDialect, UNIT_TIMEOUT_MS } from './sql-dialect.js';
import { runUnitOfWork } from './unit-of-work.adapter.js';
import { within } from './within.adapter.js';

/** Who wants to know how connecting goes. */
export interface ConnectionListener {
  /** The database is connected and migrated, for the first time or again. */
  connected?(): void;
  /** A try to connect or to migrate has failed; the next one follows by itself. `advice` where somebody has to act. */
  connectFailed?(code: string, advice?: string): void;
}

const RECONNECT = { firstMs: 250, longestMs: 15_000 };

/** DDL waits for other instances and is slow on a distributed database; a server that hangs is given up after this. */
const MIGRATE_TIMEOUT_MS = 60_000;

/** How long closing waits for the server's good-bye. */
const CLOSE_TIMEOUT_MS = 1_000;

/** Between tries to get hold of an embedded file that another process is writing to. */
const BUSY_PAUSE_MS = { shortest: 5, longest: 45 };

/** Units of work that may wait for the embedded file's one connection. */
const QUEUE_CEILING = 1_000;

/**
 * The one door to the control database. It connects and migrates in the background and reconnects by itself, so that
 * the server starts and serves whatever state the database is in; while it is away, work is refused at once.
 */
@Injectable()
export class ControlDatabaseService implements OnApplicationShutdown {
  private readonly logger = new Logger('ControlDatabase');
  private readonly options: ControlDbOptions;
  private readonly queue = new SerialQueue(QUEUE_CEILING);
  private readonly listeners: ConnectionListener[] = [];
  private readonly closeHooks: (() => Promise<void>)[] = [];
  private connection: ControlConnection | undefined;
  private attempted: ControlConnection | undefined;
  /** Connects since the last unit of work that succeeded: one that connects and then can't work backs off too. */
  private attempts = 0;
  /** Told once, and not at every try. */
  private advised: string | undefined;
  private opened = false;
  private closed = false;
  private closing: Promise<void> | undefined;
  private retryTimer: NodeJS.Timeout | undefined;

  constructor(@Inject(CONFIG) config: Pick<Config, 'controlDbUrl'>) {
    const parsed = parseControlDbUrl(config.controlDbUrl);
    if (!parsed.ok) throw new Error(`The control database's URL ${parsed.message}.`);
    this.options = parsed.options;
  }

  /** What is written differently for this database. */
  get dialect(): SqlDialect {
    return DIALECTS[this.options.dialect];
  }

  /** Where the database is, without any credential. */
  get target(): string {
    return describeControlDb(this.options);
  }

  /** Whether it has been connected and migrated; single units of work may fail all the same. */
  get isConnected(): boolean {
    return this.connection !== undefined;
  }

  /** Tells `listener` how connecting goes from now on. */
  listen(listener: ConnectionListener): void {
    this.listeners.push(listener);
  }

  /** Runs `hook` on shutdown while the database is still connected, in whatever order modules are torn down. */
  beforeClose(hook: () => Promise<void>): void {
    this.closeHooks.push(hook);
  }

  /** Starts connecting; returns at once and may be called again. */
  open(): void {
    if (this.opened) return;
    this.opened = true;
    void this.connect();
  }

  /**
   * Runs statements that need no transaction, on one connection.
   * @throws {DatabaseError} after two seconds at the most
   */
  run<T>(work: (manager: EntityManager) => Promise<T>): Promise<T> {
    return this.unit(false, work);
  }

  /**
   * Runs `work` in one short transaction. It must await nothing but its own statements, and may be run again where the
   * embedded file was held by somebody else.
   * @throws {DatabaseError} after two seconds at the most, with what is known of its outcome
   */
  transaction<T>(work: (manager: EntityManager) => Promise<T>): Promise<T> {
    return this.unit(true, work);
  }

  async onApplicationShutdown(): Promise<void> {
    this.closing ??= this.close();
    await this.closing;
  }

  private async unit<T>(transaction: boolean, work: (manager: EntityManager) => Promise<T>): Promise<T> {
    const connection = this.connection;
    if (connection === undefined) throw this.absent();
    const onBroken = () => this.reconnect(connection);
    const options = { dialect: this.dialect, transaction, timeoutMs: UNIT_TIMEOUT_MS, onBroken };
    const run = async () => {
      // While this unit waited for its turn, the connection may have been given up.
      if (this.connection !== connection) throw this.absent();
      return runUnitOfWork(connection.dataSource, options, work);
    };
    try {
      const result = this.dialect.embedded ? await this.inTurn(run) : await run();
      this.attempts = 0;
      return result;
    } catch (error) {
      if (isSchemaMissing(errorCode(error))) this.reconnect(connection);
      throw error;
    }
  }

  private absent(): DatabaseError {
    return new DatabaseError(this.closed ? 'CLOSED' : 'NOT_CONNECTED', 'not-stored');
  }

  /** TypeORM has one connection to a file, so units take turns; a file that is held elsewhere is tried again. */
  private async inTurn<T>(run: () => Promise<T>): Promise<T> {
    if (this.queue.isFull) throw new DatabaseError('QUEUE_FULL', 'not-stored');
    const giveUpAt = performance.now() + UNIT_TIMEOUT_MS;
    for (;;) {
      try {
        return await this.queue.run(run);
      } catch (error) {
        const known = error instanceof DatabaseError && error.outcome === 'not-stored';
        if (!known || !isBusy(error.code) || performance.now() > giveUpAt) throw error;
      }
      await busyPause();
    }
  }

  private async connect(): Promise<void> {
    let connection: ControlConnection | undefined;
    try {
      connection = createControlConnection(this.options);
      this.attempted = connection;
      await this.establish(connection);
      if (this.closed) return await this.dispose(connection);
      this.connection = connection;
      this.advised = undefined;
      this.logger.log(`Connected to ${this.target}.`);
      for (const listener of this.listeners) listener.connected?.();
    } catch (error) {
      if (connection !== undefined) await this.dispose(connection);
      this.connectFailed(error);
    }
  }

  private async establish(connection: ControlConnection): Promise<void> {
    const { dataSource } = connection;
    const say = (sentence: string) => this.logger.log(sentence);
    const giveUpAt = performance.now() + UNIT_TIMEOUT_MS;
    for (let tries = 0; ; tries += 1) {
      try {
        if (!dataSource.isInitialized) await within(UNIT_TIMEOUT_MS, dataSource.initialize());
        return await within(MIGRATE_TIMEOUT_MS, migrate(dataSource, this.options.dialect, say));
      } catch (error) {
        if (!isBusy(errorCode(error)) || performance.now() > giveUpAt) throw error;
        if (tries === 0) say('Another process holds the file: waiting for it, for 2 s at the most.');
      }
      await busyPause();
    }
  }

  private connectFailed(error: unknown): void {
    if (this.closed) return;
    this.connectLater();
    const [code, advice] = [errorCode(error), connectAdvice(error)];
    const message = `Connecting to ${this.target} failed (${code}).`;
    if (advice === undefined || advice === this.advised) this.logger.debug(message);
    else this.logger.warn(`${message} ${advice}`);
    this.advised = advice;
    for (const listener of this.listeners) listener.connectFailed?.(code, advice);
  }

  private connectLater(): void {
    const delayMs = backoffMs(this.attempts, RECONNECT.firstMs, RECONNECT.longestMs, Math.random());
    this.attempts += 1;
    this.retryTimer = setTimeout(() => void this.connect(), delayMs).unref();
  }

  /** Starts over with a new connection and the migrations, where this one or what is behind it can't be used further. */
  private reconnect(connection: ControlConnection): void {
    if (this.connection !== connection) return;
    this.connection = undefined;
    void this.dispose(connection);
    if (!this.closed) this.connectLater();
  }

  /** Ends a connection; that to the file in its turn, because a unit under way goes on with its handle. */
  private async dispose(connection: ControlConnection): Promise<void> {
    const { dataSource } = connection;
    const destroy = () => dataSource.destroy();
    try {
      if (!dataSource.isInitialized) return;
      await within(CLOSE_TIMEOUT_MS, this.dialect.embedded ? this.queue.runRegardless(destroy) : destroy());
    } catch {
      // It is going away either way.
    } finally {
      connection.cut();
    }
  }

  private async close(): Promise<void> {
    await Promise.allSettled(this.closeHooks.map((hook) => hook()));
    this.closed = true;
    clearTimeout(this.retryTimer);
    if (this.attempted !== this.connection) this.attempted?.cut();
    const connection = this.connection;
    this.connection = undefined;
    if (connection !== undefined) await this.dispose(connection);
  }
}

function busyPause(): Promise<void> {
  const { shortest, longest } = BUSY_PAUSE_MS;
  return new Promise((resolve) => setTimeout(resolve, shortest + Math.random() * (longest - shortest)));
}
