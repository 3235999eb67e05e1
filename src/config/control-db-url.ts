import { accessSync, constants } from 'node:fs';
import { isIP } from 'node:net';
import { resolve } from 'node:path';

/** How the connection to a database server is encrypted. */
export interface ControlDbTls {
  /** Whether the server's certificate and name are checked. */
  readonly verify: boolean;
  /** A PEM file with the authorities to trust in place of the built-in ones. */
  readonly caFile: string | undefined;
}

/** The embedded database: a file, or `:memory:`. */
export interface SqliteOptions {
  readonly dialect: 'sqlite';
  readonly path: string;
}

/** A database server. */
export interface ServerOptions {
  readonly dialect: 'mysql' | 'postgres';
  readonly host: string;
  readonly port: number;
  readonly user: string | undefined;
  readonly password: string | undefined;
  readonly database: string;
  /** Undefined: the connection is not encrypted. */
  readonly tls: ControlDbTls | undefined;
}

/** Where the control database is and how it is reached. */
export type ControlDbOptions = SqliteOptions | ServerOptions;

/** A URL that can be used, or what is wrong with it: words that complete "the value …" and hold no part of it. */
export type ParsedControlDbUrl = { ok: true; options: ControlDbOptions } | { ok: false; message: string };

const SERVERS = {
  'mysql:': { dialect: 'mysql', port: 3306 },
  'postgres:': { dialect: 'postgres', port: 5432 },
  'postgresql:': { dialect: 'postgres', port: 5432 },
} as const;

/** `require` and `verify-ca` are stricter here than in libpq: whoever asks for TLS gets the whole check. */
const TLS_WORDS: Readonly<Record<string, boolean | 'off'>> = {
  true: true,
  require: true,
  'verify-ca': true,
  'verify-full': true,
  'no-verify': false,
  false: 'off',
  disable: 'off',
};

/** Our names, and the ones that connection strings of PostgreSQL providers carry. */
const OPTION_NAMES: Readonly<Record<string, 'ssl' | 'sslca'>> = {
  ssl: 'ssl',
  sslmode: 'ssl',
  sslca: 'sslca',
  sslrootcert: 'sslca',
};

class UnusableUrl extends Error {}

function parseSqlite(path: string): SqliteOptions {
  if (path === '') throw new UnusableUrl('names no file (sqlite:./path/control.db, or sqlite::memory:)');
  if (path === ':memory:') return { dialect: 'sqlite', path };
  if (path.startsWith('//') && !path.startsWith('///')) {
    throw new UnusableUrl('has a host, but a file has none (sqlite:./relative/path or sqlite:/absolute/path)');
  }
  if (/^[a-z][a-z0-9+.-]+:/i.test(path)) throw new UnusableUrl('names a URL where a file is expected');
  if (/[?#\0]/.test(path)) throw new UnusableUrl('has options behind the file, and a file takes none');
  if (path.trim() === '') throw new UnusableUrl('names a file of blanks');
  if (/(^|\/)\.{0,2}$/.test(path)) throw new UnusableUrl('names a folder, not a file');
  return { dialect: 'sqlite', path: path.replace(/^\/+/, '/') };
}

function decoded(part: string, what: string): string | undefined {
  try {
    return part === '' ? undefined : decodeURIComponent(part);
  } catch {
    throw new UnusableUrl(`has a ${what} with a stray % (write it as %25)`);
  }
}

function readTlsWord(text: string): boolean | 'off' {
  const word = Object.hasOwn(TLS_WORDS, text) ? TLS_WORDS[text] : undefined;
  if (word !== undefined) return word;
  try {
    const parsed: unknown = JSON.parse(text);
    if (typeof parsed === 'object' && parsed !== null && Object.keys(parsed).join() === 'rejectUnauthorized') {
      const { rejectUnauthorized } = parsed as { rejectUnauthorized: unknown };
      if (typeof rejectUnauthorized === 'boolean') return rejectUnauthorized;
    }
  } catch {
    // Not JSON either: the sentence below says what is allowed.
  }
  const words = Object.keys(TLS_WORDS).join(', ');
  throw new UnusableUrl(`has an unknown ssl or sslmode option (known: ${words}, {"rejectUnauthorized":true})`);
}

function requireReadable(caFile: string): void {
  try {
    accessSync(caFile, constants.R_OK);
  } catch {
    throw new UnusableUrl('names a CA file (sslca) that can not be read');
  }
}

function parseTls(query: URLSearchParams): ControlDbTls | undefined {
  const given = new Map<'ssl' | 'sslca', string>();
  for (const [name, value] of query) {
    const option = Object.hasOwn(OPTION_NAMES, name) ? OPTION_NAMES[name] : undefined;
    if (option === undefined)
      throw new UnusableUrl(`has an unknown option (known: ${Object.keys(OPTION_NAMES).join(', ')})`);
    if (given.has(option)) throw new UnusableUrl(`has the option ${option} twice`);
    given.set(option, value);
  }
  const ssl = given.get('ssl');
  const caFile = given.get('sslca');
  const mode = ssl === undefined ? (caFile === undefined ? 'off' : true) : readTlsWord(ssl);
  if (caFile !== undefined) {
    if (mode !== true) throw new UnusableUrl('has a CA file (sslca), but ssl says that nothing is verified');
    requireReadable(caFile);
  }
  return mode === 'off' ? undefined : { verify: mode, caFile };
}

function parseServer(url: URL, scheme: keyof typeof SERVERS): ServerOptions {
  const { dialect, port } = SERVERS[scheme];
  if (url.hostname === '') throw new UnusableUrl('names no host');
  if (url.hash !== '') throw new UnusableUrl('has a fragment (write # in a password as %23)');
  const database = decoded(url.pathname.replace(/^\//, ''), 'database name');
  if (database === undefined) throw new UnusableUrl(`names no database (${scheme}//user:password@host/database)`);
  if (database.includes('/')) throw new UnusableUrl('has more than one path segment (write / in a password as %2F)');
  const host = decoded(url.hostname.replace(/^\[(.*)\]$/, '$1'), 'host') ?? '';
  if (!/^[\p{L}\p{N}_.:/-]+$/u.test(host)) throw new UnusableUrl('names a host that is neither a name nor an address');
  if (url.port !== '' && Number(url.port) === 0) throw new UnusableUrl('has port 0, where nothing can be reached');
  const tls = parseTls(url.searchParams);
  // The MySQL driver checks the certificate of an address against the name "localhost", which would be no check at all.
  if (dialect === 'mysql' && tls?.verify === true && isIP(host) !== 0) {
    throw new UnusableUrl(
      "needs the host's name, not an address, for its certificate to be verified (or ssl=no-verify)",
    );
  }
  return {
    dialect,
    host,
    port: url.port === '' ? port : Number(url.port),
    user: decoded(url.username, 'user name'),
    password: decoded(url.password, 'password'),
    database,
    tls,
  };
}

function parse(text: string): ControlDbOptions {
  const sqlite = /^sqlite:(.*)$/is.exec(text);
  if (sqlite !== null) return parseSqlite(sqlite[1] ?? '');
  const scheme = /^([a-z][a-z0-9+.-]*:)\/\//i.exec(text)?.[1]?.toLowerCase();
  if (scheme === undefined || !Object.hasOwn(SERVERS, scheme)) {
    throw new UnusableUrl('has an unknown scheme (known: sqlite:, mysql://, postgres://)');
  }
  if (!URL.canParse(text)) throw new UnusableUrl('is not a URL (special characters in a password: write @ as %40)');
  return parseServer(new URL(text), scheme as keyof typeof SERVERS);
}

/**
 * Reads `TIDB_MCP_CONTROL_DB_URL`: `sqlite:PATH`, `sqlite::memory:`, `mysql://…` (TiDB, MySQL, MariaDB) or
 * `postgres://…`. Servers take `ssl` (`true`, `false`, `no-verify`) and `sslca` (a PEM file, which must be readable);
 * with TLS the certificate and the host's name are verified unless the URL says otherwise. Contract: "Configuration".
 */
export function parseControlDbUrl(text: string): ParsedControlDbUrl {
  try {
    return { ok: true, options: parse(text) };
  } catch (error) {
    if (error instanceof UnusableUrl) return { ok: false, message: error.message };
    throw error;
  }
}

/** The same, with a file by its absolute path: another command, run in another folder, means another by a relative one. */
export function fromAnywhere(options: ControlDbOptions): ControlDbOptions {
  const isFile = options.dialect === 'sqlite' && options.path !== ':memory:';
  return isFile ? { ...options, path: resolve(options.path) } : options;
}

/** Where the database is, for logs: without user, password and options. */
export function describeControlDb(options: ControlDbOptions): string {
  if (options.dialect === 'sqlite') return `sqlite:${options.path}`;
  const host = options.host.includes(':') ? `[${options.host}]` : options.host;
  return `${options.dialect}://${host}:${options.port}/${options.database}`;
}
