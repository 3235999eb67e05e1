import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import {
  chownSync,
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { createMysql, createPostgres, type ScratchDatabase } from './control-databases.js';
import { freePort } from './free-port.js';
import { waitUntil } from './wait-until.js';

/** What a server program is told about TLS: PEM files, all in the server's own folder. */
export interface ServerCertificate {
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
}

/** How one kind of server is made and run, and what a power cut is to it. */
interface Recipe {
  readonly name: string;
  /** Both programs are refused to root, so root runs them as this user. */
  readonly user: string;
  readonly programs: readonly [install: string, serve: string];
  install(data: string): string[];
  serve(data: string, folder: string, port: number): string[];
  tls(files: ServerCertificate): string[];
  /** Ends it at once, so that its next start has to recover. PostgreSQL's children would outlive a SIGKILL. */
  readonly crash: NodeJS.Signals;
  url(port: number): string;
  scratch(adminUrl: string): Promise<ScratchDatabase>;
}

const MARIADB: Recipe = {
  name: 'MariaDB',
  user: 'mysql',
  programs: ['mariadb-install-db', 'mariadbd'],
  install: (data) => [
    '--no-defaults',
    `--datadir=${data}`,
    '--auth-root-authentication-method=normal',
    '--skip-test-db',
  ],
  serve: (data, folder, port) => [
    '--no-defaults',
    `--datadir=${data}`,
    `--port=${port}`,
    '--bind-address=127.0.0.1',
    `--socket=${folder}/s.sock`,
    `--pid-file=${folder}/pid`,
  ],
  tls: ({ ca, cert, key }) => [`--ssl-ca=${ca}`, `--ssl-cert=${cert}`, `--ssl-key=${key}`],
  crash: 'SIGKILL',
  url: (port) => `mysql://root@127.0.0.1:${port}/mysql`,
  scratch: createMysql,
};

const POSTGRES: Recipe = {
  name: 'PostgreSQL',
  user: 'postgres',
  programs: ['initdb', 'postgres'],
  install: (data) => ['-D', data, '-A', 'trust', '-E', 'UTF8', '-U', 'postgres', '--no-sync'],
  serve: (data, folder, port) => ['-D', data, '-p', `${port}`, '-h', '127.0.0.1', '-k', folder],
  tls: ({ cert, key }) => ['-c', 'ssl=on', '-c', `ssl_cert_file=${cert}`, '-c', `ssl_key_file=${key}`],
  crash: 'SIGQUIT',
  url: (port) => `postgres://postgres@127.0.0.1:${port}/postgres`,
  scratch: createPostgres,
};

/** Debian keeps PostgreSQL's programs out of the path. */
function find(program: string): string | undefined {
  const versions = '/usr/lib/postgresql';
  const kept = existsSync(versions) ? readdirSync(versions).map((version) => join(versions, version, 'bin')) : [];
  const folders = [...kept.toReversed(), ...(process.env['PATH'] ?? '').split(delimiter)];
  return folders.map((folder) => join(folder, program)).find((path) => existsSync(path));
}

/** The ids of a user, for root; everybody else stays who they are. */
function identity(user: string): { uid: number; gid: number } | Record<string, never> {
  if (process.getuid?.() !== 0) return {};
  const [uid = Number.NaN, gid = Number.NaN] = ['-u', '-g'].map((flag) =>
    Number(spawnSync('id', [flag, user], { encoding: 'utf8' }).stdout || Number.NaN),
  );
  return { uid, gid };
}

/** A database server of a test's own, in a temporary folder and on a port of its own, which it keeps over restarts. */
export class DatabaseServer {
  /** For {@link ServerCertificate}s too: it belongs to the user that the server runs as. */
  readonly folder = mkdtempSync(join(tmpdir(), 'db-'));
  private readonly as: ReturnType<typeof identity>;
  private readonly logFile = join(this.folder, 'log');
  private child: ChildProcess | undefined;
  private ended: Promise<unknown> = Promise.resolve();

  private constructor(
    private readonly recipe: Recipe,
    readonly port: number,
  ) {
    this.as = identity(recipe.user);
    this.own(this.folder);
  }

  /** Makes an empty one that does not run yet. */
  static async create(recipe: Recipe): Promise<DatabaseServer> {
    const server = new DatabaseServer(recipe, await freePort());
    mkdirSync(server.data);
    server.own(server.data);
    const [program] = recipe.programs;
    const child = server.spawn(program, recipe.install(server.data));
    const status = await new Promise((resolve) => child.on('exit', resolve).on('error', resolve));
    if (status !== 0) throw new Error(`${program} ended with ${String(status)}\n${server.log()}`);
    return server;
  }

  /** The administrator's URL. */
  get adminUrl(): string {
    return this.recipe.url(this.port);
  }

  /** Hands a file over to the user that the server runs as. */
  own(path: string): void {
    if ('uid' in this.as) chownSync(path, this.as.uid, this.as.gid);
  }

  /** Starts it, for the first time or again, and waits until it takes connections. */
  async start(certificate?: ServerCertificate): Promise<void> {
    const { programs, serve, tls } = this.recipe;
    const args = serve(this.data, this.folder, this.port).concat(certificate === undefined ? [] : tls(certificate));
    const child = this.spawn(programs[1], args);
    // Also where the test's own process ends in between.
    const kill = (): void => void child.kill(this.recipe.crash);
    process.on('exit', kill);
    this.child = child;
    this.ended = new Promise((resolve) => child.on('exit', resolve).on('error', resolve)).then(() =>
      process.off('exit', kill),
    );
    await waitUntil(`${programs[1]} takes connections`, () => this.answers(), 60_000).catch((error) => {
      throw new Error(`${String(error)}\n${this.log()}`);
    });
  }

  /** Ends it as a power cut does: whatever it had not written is recovered by its next start. */
  async crash(): Promise<void> {
    this.child?.kill(this.recipe.crash);
    await this.ended;
  }

  /** A database on it; dropping it is not needed where the server goes. */
  scratch(): Promise<ScratchDatabase> {
    return this.recipe.scratch(this.adminUrl);
  }

  /** Ends it and removes what it stored. */
  async remove(): Promise<void> {
    await this.crash();
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** What it has written so far. */
  log(): string {
    return readFileSync(this.logFile, 'utf8');
  }

  private get data(): string {
    return join(this.folder, 'data');
  }

  private spawn(program: string, args: string[]): ChildProcess {
    const out = openSync(this.logFile, 'a');
    try {
      return spawn(find(program) ?? program, args, { cwd: '/', stdio: ['ignore', out, out], ...this.as });
    } finally {
      closeSync(out);
    }
  }

  private async answers(): Promise<boolean> {
    if (this.child?.exitCode !== null) throw new Error('it ended');
    try {
      await (await this.scratch()).drop();
      return true;
    } catch {
      return false;
    }
  }
}

/** A kind of server that a test can have for itself, and the end of a title that says why it can't. */
export interface DatabaseProgram {
  readonly name: string;
  readonly available: boolean;
  readonly note: string;
  create(): Promise<DatabaseServer>;
}

function program(recipe: Recipe): DatabaseProgram {
  const missing = recipe.programs.filter((name) => find(name) === undefined);
  const available = missing.length === 0;
  const note = available ? '' : ` (skipped: ${missing.join(' and ')} not installed)`;
  return { name: recipe.name, available, note, create: () => DatabaseServer.create(recipe) };
}

/** The servers that are there in CI. */
export const DATABASE_PROGRAMS: readonly DatabaseProgram[] = [program(MARIADB), program(POSTGRES)];
