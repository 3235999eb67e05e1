import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { Program } from '../hostile/program.js';

const CLI = resolve('dist/cli.js');

describe('A server that is told to stop before it listens', () => {
  it.each(['SIGTERM', 'SIGINT'] as const)(
    'ends in order, without a grace: %s',
    async (signal) => {
      // A control database that takes connections and says nothing: the start waits for it for a while.
      const silent = createServer().listen(0, '127.0.0.1');
      await once(silent, 'listening');
      const { port } = silent.address() as AddressInfo;
      const env = {
        PATH: process.env['PATH'],
        TIDB_MCP_PORT: '0',
        TIDB_MCP_CONTROL_DB_URL: `mysql://root@127.0.0.1:${port}/test`,
        TIDB_MCP_SHUTDOWN_GRACE_SECONDS: '3600',
      };
      const child = spawn(process.execPath, [CLI, 'serve'], { env, stdio: ['ignore', 'pipe', 'inherit'] });
      let output = '';
      child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
      await once(silent, 'connection');
      expect(output).not.toContain('listens on');
      child.kill(signal);
      expect(await once(child, 'close')).toEqual([0, null]);
      expect(output).toContain('"event":"server_stopped"');
      silent.close();
    },
    60_000,
  );
});

describe('A server that stops', () => {
  it('waits for no connection that somebody opened in advance and sent nothing on', async () => {
    const program = await Program.start({});
    const unused = connect(program.port, '127.0.0.1').on('error', () => undefined);
    await once(unused, 'connect');
    expect(await program.stop()).toBe(0);
    expect(program.output).not.toContain('Waiting for');
    unused.destroy();
  }, 60_000);
});
