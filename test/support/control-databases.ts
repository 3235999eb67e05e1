import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Libsql from 'libsql';
import mysql from 'mysql2/promise';
import pg from 'pg';

/** A scratch database of one test file. */
export interface ScratchDatabase {
  readonly url: string;
  /** Runs one statement beside the server under test; parameters are written into it. */
  query(sql: string): Promise<Record<string, unknown>[]>;
  drop(): Promise<void>;
}

/** One kind of control database that the suites run on. */
export interface DatabaseKind {
  readonly name: 'libsql' | 'MySQL protocol' | 'PostgreSQL';
  /** Whether it can be reached here. */
  readonly available: boolean;
  /** Its name, and why suites on it are skipped where they are. */
  readonly title: string;
  /** What a client sends to commit, and nothing else that it sends holds. */
  readonly commit: string;
  readonly create: () => Promise<ScratchDatabase>;
}

const MYSQL_URL = process.env['TEST_MYSQL_URL'];
const POSTGRES_URL = process.env['TEST_POSTGRES_URL'];
/** Where the suites have run on the embedded file already. */
const SERVERS_ALONE = process.env['TEST_SERVERS_ALONE'] !== undefined;

const scratchName = () => `quota_test_${randomBytes(6).toString('hex')}`;

function withDatabase(url: string, name: string): string {
  const changed = new URL(url);
  changed.pathname = `/${name}`;
  return changed.href;
}

/** A file of libsql in a folder of its own. */
export function createFile(): Promise<ScratchDatabase> {
  const folder = mkdtempSync(join(tmpdir(), 'quota-test-'));
  const path = join(folder, 'control.db');
  return Promise.resolve({
    url: `sqlite:${path}`,
    query: (sql) => {
      const database = new Libsql(path, { timeout: 2_000 });
      try {
        const statement = database.prepare(sql);
        if (statement.reader) return Promise.resolve(statement.all() as Record<string, unknown>[]);
        statement.run();
        return Promise.resolve([]);
      } finally {
        database.close();
      }
    },
    drop: () => {
      rmSync(folder, { recursive: true, force: true });
      return Promise.resolve();
    },
  });
}

/** A database on the MySQL-protocol server whose administrator's URL this is. */
export async function createMysql(admin: string): Promise<ScratchDatabase> {
  const name = scratchName();
  const query = async (url: string, sql: string) => {
    const connection = await mysql.createConnection({ uri: url, dateStrings: true, supportBigNumbers: true });
    try {
      const [rows] = await connection.query(sql);
      return Array.isArray(rows) ? (rows as Record<string, unknown>[]) : [];
    } finally {
      await connection.end();
    }
  };
  await query(admin, `CREATE DATABASE ${name}`);
  const url = withDatabase(admin, name);
  return { url, query: (sql) => query(url, sql), drop: async () => void (await query(admin, `DROP DATABASE ${name}`)) };
}

/** A database on the PostgreSQL server whose administrator's URL this is. */
export async function createPostgres(admin: string): Promise<ScratchDatabase> {
  const name = scratchName();
  const query = async (connectionString: string, sql: string) => {
    const client = new pg.Client({ connectionString });
    await client.connect();
    try {
      return (await client.query(sql)).rows as Record<string, unknown>[];
    } finally {
      await client.end();
    }
  };
  await query(admin, `CREATE DATABASE ${name}`);
  const url = withDatabase(admin, name);
  const drop = async () => void (await query(admin, `DROP DATABASE ${name} WITH (FORCE)`));
  return { url, query: (sql) => query(url, sql), drop };
}

function serverKind(
  name: 'MySQL protocol' | 'PostgreSQL',
  variable: string,
  commit: string,
  create: () => Promise<ScratchDatabase>,
): DatabaseKind {
  const available = process.env[variable] !== undefined;
  return { name, available, commit, create, title: available ? name : `${name} (skipped: ${variable} is not set)` };
}

/** The three kinds, also the ones that can't be reached here, so that a report says what was skipped. */
export const DATABASE_KINDS: readonly DatabaseKind[] = [
  {
    name: 'libsql',
    title: SERVERS_ALONE ? 'libsql (skipped: TEST_SERVERS_ALONE is set)' : 'libsql',
    available: !SERVERS_ALONE,
    commit: '',
    create: createFile,
  },
  serverKind('MySQL protocol', 'TEST_MYSQL_URL', 'COMMIT', () => createMysql(MYSQL_URL ?? '')),
  // Its texts end in a zero; without that, READ COMMITTED would do.
  serverKind('PostgreSQL', 'TEST_POSTGRES_URL', 'COMMIT\0', () => createPostgres(POSTGRES_URL ?? '')),
];

/** The kinds that are servers of their own, reached over the network. */
export const SERVER_KINDS = DATABASE_KINDS.filter(({ name }) => name !== 'libsql');
