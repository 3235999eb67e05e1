import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** One check of the suite and what it came to. */
export interface Check {
  readonly scenario: string;
  readonly id: string;
  readonly status: 'SUCCESS' | 'FAILURE' | 'WARNING' | 'SKIPPED' | 'INFO';
  readonly errorMessage?: string;
}

/** The folder into which the suite and its Node were installed; undefined where this run does without. */
export const SUITE: string | undefined = process.env['TEST_CONFORMANCE'] || undefined;

/**
 * Runs all scenarios of one revision against a server and answers every check.
 * @throws Error with what the suite wrote where it came to no result
 */
export async function runSuite(suite: string, url: string, revision: string): Promise<Check[]> {
  const results = mkdtempSync(join(tmpdir(), 'conformance-'));
  try {
    const program = join(suite, 'node_modules/@modelcontextprotocol/conformance/dist/index.js');
    const what = ['server', '--url', url, '--suite', 'all', '--spec-version', revision, '--output-dir', results];
    const written = await run(join(suite, 'node_modules/node/bin/node'), [program, ...what]);
    const checks = readdirSync(results).flatMap((folder) => checksOf(results, folder));
    if (checks.length === 0) throw new Error(written);
    return checks;
  } finally {
    rmSync(results, { recursive: true, force: true });
  }
}

/** The folder of a scenario is named `server-SCENARIO-TIME`. */
function checksOf(results: string, folder: string): Check[] {
  const scenario = folder.replace(/^server-/, '').replace(/-\d{4}-\d{2}-\d{2}T[\d-]+Z$/, '');
  const checks = JSON.parse(readFileSync(join(results, folder, 'checks.json'), 'utf8')) as Omit<Check, 'scenario'>[];
  return checks.map(({ id, status, errorMessage = '' }) => ({ scenario, id, status, errorMessage }));
}

/** Its exit status says whether everything passed, which is judged here by the checks. */
function run(program: string, args: string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'], timeout: 240_000 });
    let written = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (data: Buffer) => (written = `${written}${data.toString()}`.slice(-10_000)));
    }
    child.on('error', reject);
    child.on('close', () => resolve(written));
  });
}
