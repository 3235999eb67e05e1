import { type ChildProcess, spawn } from 'node:child_process';
import { waitUntil } from '../support/wait-until.js';

/** The built program; `npm test` builds it. */
const PROGRAM = process.env['TEST_PROGRAM'] ?? 'dist/cli.js';

/** `serve` in a process of its own, with everything that it wrote. */
export class Program {
  output = '';
  exitCode: number | null | undefined = undefined;
  url = '';

  private constructor(readonly child: ChildProcess) {
    child.stdout?.on('data', (data) => (this.output += String(data)));
    child.stderr?.on('data', (data) => (this.output += String(data)));
    child.on('exit', (code) => (this.exitCode = code));
  }

  /**
   * Starts it and waits until it listens.
   * @param shell what a shell does before it becomes the program, such as setting a limit
   */
  static async start(env: Record<string, string>, shell = ''): Promise<Program> {
    const settings = {
      PATH: process.env['PATH'] ?? '',
      TIDB_MCP_PORT: '0',
      TIDB_MCP_SHUTDOWN_GRACE_SECONDS: '0',
      TIDB_MCP_CONTROL_DB_URL: 'sqlite::memory:',
      ...env,
    };
    const command = `${shell} exec "$0" "$1" serve`;
    const program = new Program(spawn('/bin/sh', ['-c', command, process.execPath, PROGRAM], { env: settings }));
    const listens = /listens on (http:\/\/[^\s"]+)/;
    await waitUntil('the server to listen', () => listens.test(program.output) || program.exitCode !== undefined);
    const [, url] = listens.exec(program.output) ?? [];
    if (url === undefined) throw new Error(`The server ended with ${program.exitCode}:\n${program.output}`);
    program.url = url;
    return program;
  }

  get port(): number {
    return Number(new URL(this.url).port);
  }

  /** The telemetry events on its standard output. */
  events(): Record<string, unknown>[] {
    const lines = this.output.split('\n').filter((line) => line.startsWith('{"event"'));
    return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  }

  /** Tells it to stop and waits for its end; to its exit status. */
  async stop(): Promise<number | null> {
    if (this.exitCode === undefined) {
      const ended = new Promise((resolve) => this.child.once('close', resolve));
      this.child.kill('SIGTERM');
      await ended;
    }
    return this.exitCode ?? null;
  }
}
