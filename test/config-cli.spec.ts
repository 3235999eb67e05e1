import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import manifest from '../package.json' with { type: 'json' };
import { type Transpiled, transpile } from './config-transpile.js';

let program: Transpiled;
beforeAll(() => {
  program = transpile(
    'stop-request.adapter.ts',
    'cli.ts',
    'command-line.ts',
    'failure-text.ts',
    'config',
    'request/ip-address.ts',
    'observability/scrub.ts',
    'capabilities/package-version.ts',
  );
});
afterAll(() => program.remove());

function run(args: readonly string[], env: Record<string, string> = {}) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(program.dist, 'cli.js'), ...args], {
    env: { PATH: process.env['PATH'] ?? '', ...env },
    encoding: 'utf8',
    timeout: 15_000,
  });
  return { status, stdout, stderr };
}

describe('the program', () => {
  it('prints its help and its version', () => {
    expect(run(['--help'])).toMatchObject({
      status: 0,
      stderr: '',
      stdout: expect.stringContaining('Usage:') as string,
    });
    expect(run(['--version'])).toEqual({ status: 0, stderr: '', stdout: `${manifest.version}\n` });
  });

  it('says how it is used and ends with 78 where it is misused', () => {
    expect(run(['server'])).toEqual({
      status: 78,
      stdout: '',
      stderr: "Unknown command 'server'; there are serve, stdio, demo, check, tenants. See tidb-cloud-mcp --help.\n",
    });
    expect(run([]).status).toBe(78);
  });
});

describe('check', () => {
  it('ends with 0 and says what is in force and what is risky', () => {
    const { status, stdout, stderr } = run(['check'], { TIDB_MCP_PORT: '9090', TIDB_MCP_PROT: '1' });
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout).toMatch(/TIDB_MCP_PORT +set +9090/);
    expect(stdout).toContain('the nearest known name is TIDB_MCP_PORT');
    expect(stdout).toContain('Risks');
  });
});

describe('a wrong configuration', () => {
  it.each(['check', 'serve', 'stdio'])(
    'ends %s with 78 and lists every problem on standard error, one a line',
    (command) => {
      const { status, stderr } = run([command], { TIDB_MCP_PORT: 'x', TIDB_MCP_TENANT_RPS: '0' });
      expect(status).toBe(78);
      const lines = stderr.trimEnd().split('\n');
      expect(lines.filter((line) => /^TIDB_MCP_(PORT|TENANT_RPS)=.*: .*, allowed: /.test(line))).toHaveLength(2);
      expect(lines).toHaveLength(2);
    },
  );
});

describe('an unexpected failure', () => {
  it('ends the program with 1 and says what failed', () => {
    // The starters are left out of this transpilation: to the program they are a broken installation.
    const { status, stderr } = run(['serve']);
    expect(status).toBe(1);
    expect(stderr).toMatch(/^tidb-cloud-mcp ends: .*serve\.js.*ERR_MODULE_NOT_FOUND/);
  });
});
