import { readFileSync } from 'node:fs';
import { Socket, connect } from 'node:net';
import Libsql from 'libsql';
import { DataSource, type DataSourceOptions } from 'typeorm';
import type { ControlDbOptions, ControlDbTls, ServerOptions } from '../config/control-db-url.js';
import { ConfirmNonce } from './confirm-nonce.entity.js';
import { Quota1764460800000 } from './migrations/1764460800000-quota.migration.js';
import { ConfirmNonce1764547200000 } from './migrations/1764547200000-confirm-nonce.migration.js';
import { TenantLimit1764633600000 } from './migrations/1764633600000-tenant-limit.migration.js';
import { ProvenCredential1764720000000 } from './migrations/1764720000000-proven-credential.migration.js';
import { ProvenCredentialRow } from './proven-credential.entity.js';
import { QuotaInstance } from './quota-instance.entity.js';
import { QuotaUsage } from './quota-usage.entity.js';
import { UNIT_TIMEOUT_MS } from './sql-dialect.js';
import { TenantLimitRow } from './tenant-limit.entity.js';

const SHARED = {
  entities: [QuotaUsage, QuotaInstance, ConfirmNonce, TenantLimitRow, ProvenCredentialRow],
  migrations: [Quota1764460800000, ConfirmNonce1764547200000, TenantLimit1764633600000, ProvenCredential1764720000000],
  migrationsTableName: 'tidb_mcp_migration',
  logging: false,
} satisfies Partial<DataSourceOptions>;

/**
 * Few, because one flush is one connection; closed soon after use and before any server's or gateway's own idle limit,
 * so that no unit of work starts on a connection that is half gone.
 */
const POOL = { size: 4, waiting: 100, idleMs: 5_000 };

/** How long libsql may hold the event loop waiting for another process's lock. */
const SQLITE_LOCK_WAIT_MS = 25;

/** A DataSource that is not connected yet, with a way to end its connections that needs no answer from the server. */
export interface ControlConnection {
  readonly dataSource: DataSource;
  /** Cuts every socket and ends the pool; statements in progress fail at once. */
  cut(): void;
}

function tlsOptions(tls: ControlDbTls): { rejectUnauthorized: boolean; minVersion: 'TLSv1.2'; ca?: string } {
  return {
    rejectUnauthorized: tls.verify,
    minVersion: 'TLSv1.2',
    ...(tls.caFile === undefined ? {} : { ca: readFileSync(tls.caFile, 'utf8') }),
  };
}

function serverBase(options: ServerOptions) {
  return {
    ...SHARED,
    host: options.host,
    port: options.port,
    database: options.database,
    poolSize: POOL.size,
    ...(options.user === undefined ? {} : { username: options.user }),
    ...(options.password === undefined ? {} : { password: options.password }),
  };
}

/** The part of TypeORM's MySQL driver that we need. */
interface PooledDriver {
  readonly pool?: { end(done: () => void): void };
}

type Track = (socket: Socket) => Socket;

function mysqlOptions(options: ServerOptions, track: Track): DataSourceOptions {
  const { host, port, tls } = options;
  return {
    ...serverBase(options),
    type: 'mysql',
    connectTimeout: UNIT_TIMEOUT_MS,
    dateStrings: true,
    extra: {
      maxIdle: POOL.size - 1,
      idleTimeout: POOL.idleMs,
      queueLimit: POOL.waiting,
      stream: () => track(connect({ host, port, noDelay: true, keepAlive: true })),
      // The driver checks the host's name only when it is told to, also where it verifies the certificate.
      ...(tls === undefined ? {} : { ssl: { ...tlsOptions(tls), verifyIdentity: tls.verify } }),
    },
  };
}

function postgresOptions(options: ServerOptions, track: Track): DataSourceOptions {
  const { tls } = options;
  return {
    ...serverBase(options),
    type: 'postgres',
    connectTimeoutMS: UNIT_TIMEOUT_MS,
    applicationName: 'tidb-cloud-mcp',
    installExtensions: false,
    // A lost idle connection is replaced by the pool; the next unit of work tells whether the database is there.
    poolErrorHandler: () => undefined,
    ...(tls === undefined ? {} : { ssl: tlsOptions(tls) }),
    extra: {
      idleTimeoutMillis: POOL.idleMs,
      allowExitOnIdle: true,
      keepAlive: true,
      stream: () => track(new Socket()),
    },
  };
}

function sqliteOptions(path: string): DataSourceOptions {
  return {
    ...SHARED,
    type: 'better-sqlite3',
    driver: Libsql,
    database: path,
    enableWAL: true,
    timeout: SQLITE_LOCK_WAIT_MS,
  };
}

/**
 * Prepares a connection to the control database; nothing is opened yet.
 * @throws where the CA file has become unreadable since the start
 */
export function createControlConnection(options: ControlDbOptions): ControlConnection {
  const sockets = new Set<Socket>();
  const track: Track = (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    return socket;
  };
  const dataSourceOptions =
    options.dialect === 'sqlite'
      ? sqliteOptions(options.path)
      : options.dialect === 'mysql'
        ? mysqlOptions(options, track)
        : postgresOptions(options, track);
  const dataSource = new DataSource(dataSourceOptions);
  const cut = () => {
    for (const socket of sockets) socket.destroy();
    // A pool whose DataSource never came up is ended by nobody else, and mysql2's keeps a timer running until then.
    if (options.dialect === 'mysql') (dataSource.driver as PooledDriver).pool?.end(() => undefined);
  };
  return { dataSource, cut };
}
