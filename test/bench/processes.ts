import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { openSync } from 'node:fs';
import { connect, createServer, type AddressInfo } from 'node:net';
import { availableParallelism, devNull } from 'node:os';
import { fileURLToPath } from 'node:url';
import type { Question, Usage } from './probe.js';

/** Servers on one core, whoever asks them on another, so that neither's scheduling is in the other's numbers. */
export const CORES = { server: 0, load: 1 } as const;

/** Whether processes can be kept on cores of their own here. */
export const PINS = availableParallelism() > 1 && spawnSync('taskset', ['-V']).status === 0;

/** Whether they can be put before whatever else the machine does, which would cool their caches down. */
export const FIRST = spawnSync('nice', ['-n', '-15', 'true']).stderr?.length === 0;

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** The path of a compiled file of the product. */
export const productFile = (path: string) => here(`../../src/${path}`);

/** How a process is started. */
export interface Start {
  /** A compiled file, absolute or beside this one. */
  readonly file: string;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly core?: keyof typeof CORES;
  readonly nodeOptions?: readonly string[];
  /** Makes way for whatever else is on its core. */
  readonly polite?: boolean;
  /** Where standard output and error go: a file, as in production. */
  readonly output?: string;
}

/** A child process that can be asked things. */
export class Child {
  private constructor(private readonly child: ChildProcess) {}

  static start(start: Start): Child {
    const { file, args = [], env = {}, core = 'server', nodeOptions = [], polite = false, output = devNull } = start;
    const node = [process.execPath, ...nodeOptions, here(file), ...args];
    const first = polite ? ['nice', '-n', '10'] : FIRST ? ['nice', '-n', '-15'] : [];
    const pinned = PINS ? ['taskset', '-c', String(CORES[core])] : [];
    const [command = '', ...rest] = [...first, ...pinned, ...node];
    const sink = openSync(output, 'a');
    const variables = { ...process.env, NODE_ENV: 'production', ...env };
    return new Child(spawn(command, rest, { env: variables, stdio: ['ignore', sink, sink, 'ipc'] }));
  }

  /** Sends one message and waits for the one that answers it. */
  ask<T>(message: object | string): Promise<T> {
    return new Promise((resolve, reject) => {
      const settle = (): void => {
        this.child.off('message', onMessage).off('exit', onExit);
      };
      const onMessage = (answer: unknown): void => {
        settle();
        resolve(answer as T);
      };
      const onExit = (code: number | null): void => {
        settle();
        reject(new Error(`A process of the bench ended with ${code}; see its output.`));
      };
      this.child.on('message', onMessage).on('exit', onExit);
      this.child.send(message);
    });
  }

  /** What the process has used so far; for files that load the probe. */
  usage(question: Question = 'usage'): Promise<Usage> {
    return this.ask<Usage>(question);
  }

  get pid(): number | undefined {
    return this.child.pid;
  }

  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    const gone = once(this.child, 'exit');
    this.child.kill(signal);
    await gone;
  }
}

/** A server under measurement: a process with the probe in it, and where it listens. */
export interface Server {
  readonly child: Child;
  readonly port: number;
}

const running = new Set<Child>();

/** Starts a server that listens on the port in `PORT` (or what `env` makes of it), and waits until it does. */
export async function startServer(start: Start, portVariable = 'PORT'): Promise<Server> {
  const port = await freePort();
  const nodeOptions = [
    '--expose-gc',
    '--no-memory-reducer',
    '--import',
    here('probe.js'),
    ...(start.nodeOptions ?? []),
  ];
  const child = Child.start({ ...start, env: { ...start.env, [portVariable]: String(port) }, nodeOptions });
  running.add(child);
  await untilListening(port);
  return { child, port };
}

/** Ends every server that is still there. */
export async function stopServers(): Promise<void> {
  await Promise.all([...running].map((child) => child.stop('SIGKILL')));
  running.clear();
}

/** Resolves once somebody listens on the port. */
export async function untilListening(port: number): Promise<void> {
  for (let tries = 0; tries < 3000; tries += 1) {
    if (await accepts(port)) return;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  throw new Error(`Nobody listens on port ${port}.`);
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.on('connect', () => resolve(true)).on('error', () => resolve(false));
    socket.on('connect', () => socket.destroy());
  });
}

/** A port that nobody listens on. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
