import { spawnSync } from 'node:child_process';

/** Whether a program can be started here, and the end of a title that says what is skipped where it can't. */
export interface Tool {
  readonly available: boolean;
  readonly note: string;
}

/** Looks for a program by asking it something harmless. */
export function tool(name: string, args: readonly string[]): Tool {
  const available = spawnSync(name, args, { stdio: 'ignore', timeout: 20_000 }).status === 0;
  return { available, note: available ? '' : ` (skipped: ${name} is not installed)` };
}

/** Runs a program to its end; its output, both streams, is in the answer, also where it fails. */
export function runTool(name: string, args: readonly string[], options: { input?: string; cwd?: string } = {}) {
  const { status, stdout, stderr } = spawnSync(name, args, { encoding: 'utf8', timeout: 80_000, ...options });
  return { status, output: `${stdout}${stderr}` };
}
