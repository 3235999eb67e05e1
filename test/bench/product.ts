import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { productFile, type Server, startServer, type Start } from './processes.js';

/** A credential that the stand-in for TiDB Cloud accepts. */
export const tenant = (n: number) => `Bearer tenant-${n}`;

let upstream: Promise<Server> | undefined;

/** Starts the product as `serve` does in production: telemetry and log to a file, a control database in a file. */
export async function startProduct(
  env: Readonly<Record<string, string>> = {},
  more: Partial<Start> = {},
): Promise<Server> {
  upstream ??= startServer({ file: 'servers/upstream.js', core: 'load' });
  const api = `http://127.0.0.1:${(await upstream).port}`;
  const folder = mkdtempSync(join(tmpdir(), 'tidb-mcp-bench-'));
  const settings = {
    TIDB_MCP_CONTROL_DB_URL: `sqlite:${join(folder, 'control.db')}`,
    TIDB_MCP_SERVERLESS_API_URL: api,
    TIDB_MCP_IAM_API_URL: api,
    ...env,
  };
  const start = { file: productFile('cli.js'), args: ['serve'], output: join(folder, 'out.log'), ...more };
  return startServer({ ...start, env: settings }, 'TIDB_MCP_PORT');
}

/** Forgets the stand-in, which went with all other servers. */
export function forgetUpstream(): void {
  upstream = undefined;
}

/** What a bare server's answer would not have by itself. */
const OWN_HEADERS = ['cache-control', 'x-content-type-options', 'ratelimit-policy', 'ratelimit'];

/** Makes one call with a credential, so that it is proven; answers what came back, with the headers of our own. */
export async function prove({ port }: Server, authorization: string, headers: Record<string, string> = {}) {
  const response = await fetch(`http://127.0.0.1:${port}/v1/capabilities`, { headers: { authorization, ...headers } });
  if (response.status !== 200) throw new Error(`A tenant could not prove itself: ${response.status}.`);
  const own = OWN_HEADERS.map((name) => [name, response.headers.get(name) ?? ''] as const);
  return { text: await response.text(), headers: Object.fromEntries(own) };
}
