import { accessSync, constants, mkdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

const APPLICATION = 'tidb-cloud-mcp';
const IN_MEMORY = 'sqlite::memory:';

/**
 * The control database of a local server that was told none: a file in the user's state folder, which survives a
 * restart, or memory where that cannot be written. Contract: `TIDB_MCP_CONTROL_DB_URL`.
 */
export function localControlDbUrl(env: Readonly<Record<string, string | undefined>>): string {
  try {
    const folder = join(stateFolder(env), APPLICATION);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK);
    return `sqlite:${join(folder, 'control.db')}`;
  } catch {
    return IN_MEMORY;
  }
}

/** Where applications keep what should outlive them, by the habits of each system. */
function stateFolder(env: Readonly<Record<string, string | undefined>>): string {
  const home = homedir();
  if (process.platform === 'win32') return env['LOCALAPPDATA'] || join(home, 'AppData', 'Local');
  if (process.platform === 'darwin') return join(home, 'Library', 'Application Support');
  return env['XDG_STATE_HOME'] || join(home, '.local', 'state');
}
