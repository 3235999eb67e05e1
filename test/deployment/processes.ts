import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Sandbox } from '../../src/sandbox/sandbox.adapter.js';
import { freePort } from '../support/free-port.js';
import { waitUntil } from '../support/wait-until.js';
import { dockerFile, ROOT } from './files.js';

/** A program that a test has started. */
export interface Running {
  readonly port: number;
  readonly child: ChildProcess;
  /** What it has written so far. */
  log(): string;
  /** Sends a signal and waits for the end; answers the exit status, or the signal that ended it. */
  end(signal?: NodeJS.Signals): Promise<number | string | null>;
}

interface Start {
  readonly name: string;
  readonly folder: string;
  readonly port: number;
  readonly command: readonly [string, ...string[]];
  readonly env?: Record<string, string>;
  readonly cwd?: string;
  readonly uid?: number;
}

/** Starts a program with its output in a file, since nginx cannot open a socket for its log. */
export function start({ name, folder, port, command, env = {}, cwd = ROOT, uid }: Start): Running {
  const logFile = join(folder, `${name}.log`);
  const out = openSync(logFile, 'a');
  const [program, ...args] = command;
  const identity = uid === undefined ? {} : { uid, gid: uid };
  const child = spawn(program, args, {
    cwd,
    env: { PATH: process.env['PATH'] ?? '', ...env },
    stdio: ['ignore', out, out],
    ...identity,
  });
  // Also where the test's own process ends in between.
  const kill = (): void => void child.kill('SIGKILL');
  process.on('exit', kill);
  const ended = new Promise<number | string | null>((resolve) => {
    child.on('exit', (code, signal) => {
      process.off('exit', kill);
      resolve(code ?? signal);
    });
    child.on('error', (error) => resolve(error.message));
  });
  return {
    port,
    child,
    log: () => readFileSync(logFile, 'utf8'),
    end: (signal = 'SIGTERM') => {
      child.kill(signal);
      const late = setTimeout(() => child.kill('SIGKILL'), 45_000);
      return ended.finally(() => clearTimeout(late));
    },
  };
}

/** Waits until a program answers 200 under a path; fails with its log. */
export async function untilAnswers(running: Running, path: string, scheme = 'http'): Promise<void> {
  const { port, child } = running;
  const answers = () =>
    fetch(`${scheme}://127.0.0.1:${port}${path}`).then(
      ({ ok }) => ok,
      () => false,
    );
  await waitUntil(`${path} on port ${port}`, () => child.exitCode !== null || answers(), 30_000).catch((error) => {
    child.kill('SIGKILL');
    throw new Error(`${String(error)}\n${running.log()}`);
  });
  if (child.exitCode !== null) throw new Error(`ended with ${child.exitCode}\n${running.log()}`);
}

/**
 * The environment that `docker/compose.yaml` gives an instance, but for addresses, secrets and the names it is called
 * by.
 */
export function instanceEnv(port: number, sandbox: Sandbox, controlDbUrl: string): Record<string, string> {
  return {
    TIDB_MCP_HOST: '127.0.0.1',
    TIDB_MCP_PORT: String(port),
    TIDB_MCP_TRUSTED_PROXY_DEPTH: '1',
    TIDB_MCP_GLOBAL_UNPROVEN_SHARE: '0.5',
    TIDB_MCP_CONTROL_DB_URL: controlDbUrl,
    TIDB_MCP_ADMIN_TOKEN: ADMIN_TOKEN,
    TIDB_MCP_SERVERLESS_API_URL: sandbox.serverlessUrl,
    TIDB_MCP_IAM_API_URL: sandbox.iamUrl,
    TIDB_MCP_LOG_LEVEL: 'warn',
    TIDB_MCP_TELEMETRY: 'off',
  };
}

/** The operator's token in these tests. */
export const ADMIN_TOKEN = 'deployment-tests-admin-token';

/** Starts one instance as the image does, and waits until it is ready. */
export async function startInstance(name: string, folder: string, env: Record<string, string>): Promise<Running> {
  const port = Number(env['TIDB_MCP_PORT']);
  const running = start({ name, folder, port, env, command: [process.execPath, 'dist/cli.js', 'serve'] });
  await untilAnswers(running, '/health/ready');
  return running;
}

/**
 * `docker/nginx.conf` as it is, but for where it listens, where the instances are, and the folders it writes to and
 * reads.
 */
export function nginxConfiguration(folder: string, port: number, instances: readonly [number, number]): string {
  const substitutions: [RegExp, string, number][] = [
    [/listen 8080;/g, `listen 127.0.0.1:${port};`, 1],
    [/mcp-1:8080/g, `127.0.0.1:${instances[0]}`, 2],
    [/mcp-2:8080/g, `127.0.0.1:${instances[1]}`, 2],
    [/\/tmp\//g, `${folder}/`, 6],
    [/\/etc\/nginx\/tls\//g, `${folder}/tls/`, 1],
  ];
  return substitutions.reduce((text, [pattern, replacement, times]) => {
    const found = text.match(pattern)?.length ?? 0;
    if (found !== times) throw new Error(`${pattern} stands ${found} times in nginx.conf, not ${times}.`);
    return text.replace(pattern, replacement);
  }, dockerFile('nginx.conf'));
}

/** Starts nginx with that configuration, as the image's command does. */
export async function startNginx(folder: string, instances: readonly [number, number]): Promise<Running> {
  const port = await freePort();
  const file = join(folder, 'nginx.conf');
  mkdirSync(join(folder, 'tls'), { recursive: true });
  writeFileSync(file, nginxConfiguration(folder, port, instances));
  const command = ['nginx', '-e', 'stderr', '-c', file, '-g', 'daemon off;'] as const;
  const running = start({ name: 'nginx', folder, port, command: [...command] });
  await untilAnswers(running, '/health/ready');
  return running;
}
