import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ask, bearer } from '../support/test-server.js';
import { waitUntil } from '../support/wait-until.js';

const CLI = resolve('dist/cli.js');

let folder: string;
let child: ChildProcess | undefined;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'demo-'));
});
afterEach(() => {
  child?.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
});

/** Starts the demo as a newcomer does, and reads off what it prints. */
async function startDemo(own: Record<string, string> = {}) {
  const env = { PATH: process.env['PATH'], TIDB_MCP_PORT: '0', ...own };
  const started = spawn(process.execPath, [CLI, 'demo'], { cwd: folder, env, stdio: ['ignore', 'pipe', 'inherit'] });
  child = started;
  let output = '';
  started.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const ended = new Promise((done) => started.on('close', done));
  await waitUntil('the demo is there', () => output.includes('Stop with Ctrl-C.'), 20_000);
  const printed = (pattern: RegExp) => pattern.exec(output)?.[1] ?? '';
  const capabilities = () =>
    ask(`${printed(/listens on (\S+)/)}/v1/capabilities`, bearer(printed(/Key +(\S+)/))).then((answer) =>
      answer.json<{ liveInstances: number; limits: { quota: { used: number } } }>(),
    );
  const pressCtrlC = async () => {
    started.kill('SIGINT');
    return { status: await ended, said: output.split('Stop with Ctrl-C.\n')[1] };
  };
  return { capabilities, pressCtrlC, database: printed(/CONTROL_DB_URL=(\S+)/) };
}

describe('The demo', () => {
  it('says on Ctrl-C that it stops and what it waits for', async () => {
    const { pressCtrlC } = await startDemo({ TIDB_MCP_SHUTDOWN_GRACE_SECONDS: '1' });
    expect(await pressCtrlC()).toEqual({
      status: 0,
      said:
        'SIGINT: shutting down.\n' +
        'Serving on for 1 s, so that load balancers see that readiness is gone.\n' +
        'Stopped.\n',
    });
  }, 30_000);

  it('that is started again is one instance, and knows the calls of the day', async () => {
    const first = await startDemo();
    expect(first.database).toBe(`sqlite:${join(realpathSync(folder), 'data', 'demo.db')}`);
    await first.capabilities();
    expect((await first.pressCtrlC()).status).toBe(0);
    const second = await startDemo();
    expect(await second.capabilities()).toMatchObject({ liveInstances: 1, limits: { quota: { used: 2 } } });
    expect((await second.pressCtrlC()).status).toBe(0);
  }, 45_000);
});
