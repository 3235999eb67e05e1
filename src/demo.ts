import { randomBytes } from 'node:crypto';
import type { Config } from './config/config.js';
import { describeControlDb, fromAnywhere, parseControlDbUrl } from './config/control-db-url.js';
import { parseConfig } from './config/parse-config.js';
import { type Sandbox, startSandbox } from './sandbox/sandbox.adapter.js';
import { runServer, untilToldToStop } from './serve.js';
import { StopRequest } from './stop-request.adapter.js';

const EXIT_CONFIGURATION = 78;

/**
 * Everything embedded, for a newcomer: a sandbox of TiDB Cloud's API, the control database in a file, the server, and
 * lines to paste. What is set in the environment still holds, but for where TiDB Cloud is. Contract: "Commands".
 * @returns the exit status
 */
export async function startDemo(env: Readonly<Record<string, string | undefined>>): Promise<number> {
  const stop = new StopRequest();
  const sandbox = await startSandbox();
  const parsed = parseConfig({
    TIDB_MCP_CONTROL_DB_URL: 'sqlite:./data/demo.db',
    TIDB_MCP_TELEMETRY: 'file:./data/demo-telemetry.jsonl',
    TIDB_MCP_LOG_LEVEL: 'warn',
    TIDB_MCP_SHUTDOWN_GRACE_SECONDS: '0',
    TIDB_MCP_OAUTH_USERINFO_URL: sandbox.userinfoUrl,
    TIDB_MCP_ADMIN_TOKEN: randomBytes(16).toString('hex'),
    ...set(env),
    TIDB_MCP_SERVERLESS_API_URL: sandbox.serverlessUrl,
    TIDB_MCP_IAM_API_URL: sandbox.iamUrl,
  });
  if (!parsed.ok) {
    process.stderr.write(parsed.problems.map((line) => `${line}\n`).join(''));
    await sandbox.close();
    return EXIT_CONFIGURATION;
  }
  const say = (sentence: string): void => void process.stdout.write(`${sentence}\n`);
  const running = await runServer(parsed.config, undefined, say);
  const stopped = untilToldToStop(running, say, stop);
  process.stdout.write(welcome(running.url, sandbox, parsed.config.adminToken ?? '', databaseOf(parsed.config)));
  await stopped;
  await sandbox.close();
  return 0;
}

/** An empty variable is unset, here as everywhere. */
function set(env: Readonly<Record<string, string | undefined>>): Record<string, string | undefined> {
  return Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined && value !== ''));
}

/** Where counts are kept, as another command run elsewhere would name it; without any credential. */
function databaseOf({ controlDbUrl }: Config): string {
  const parsed = parseControlDbUrl(controlDbUrl);
  if (!parsed.ok) throw new Error(`The control database's URL ${parsed.message}.`);
  return describeControlDb(fromAnywhere(parsed.options));
}

function welcome(url: string, sandbox: Sandbox, adminToken: string, database: string): string {
  const key = `${sandbox.publicKey}:${sandbox.privateKey}`;
  const rpc = JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: { name: 'tidb_list_clusters', arguments: { pageSize: 3 } },
  });
  return `
tidb-cloud-mcp demo: the server listens on ${url}
  MCP      ${url}/mcp
  REST     ${url}/v1
  Docs     ${url}/docs
  Console  ${url}/console#token=${adminToken}
  Key      ${key}   (of the embedded sandbox; nothing here reaches TiDB Cloud)
  Data     TIDB_MCP_CONTROL_DB_URL=${database}   (for the tenants command; a file outlives the demo)
  stdio    TIDB_MCP_SERVERLESS_API_URL=${sandbox.serverlessUrl} TIDB_MCP_IAM_API_URL=${sandbox.iamUrl} TIDB_CLOUD_PUBLIC_KEY=${sandbox.publicKey} TIDB_CLOUD_PRIVATE_KEY=${sandbox.privateKey} point a stdio server at it

Paste these into another terminal.

A first call, which proves the key:
  curl -sS -u '${key}' '${url}/v1/clusters?pageSize=2'

The same operation as an agent calls it:
  curl -sS -u '${key}' -H 'Content-Type: application/json' -H 'Accept: application/json, text/event-stream' -d '${rpc}' ${url}/mcp

Two OAuth tokens of one subject are one tenant, which has used two calls after both:
  curl -sS -H 'Authorization: Bearer ${sandbox.token}' ${url}/v1/capabilities
  curl -sS -H 'Authorization: Bearer ${sandbox.issueToken(sandbox.subject)}' ${url}/v1/capabilities

The limits in force, and what is left of today's quota:
  curl -sS -u '${key}' ${url}/v1/capabilities

A refusal: thirty calls in a row are more than a burst of twenty; the last three answers with their status:
  curl -sS -u '${key}' -w ' <- %{http_code}\\n' '${url}/v1/capabilities#[1-30]' | tail -n 3

The document that clients are made from:
  curl -sS ${url}/openapi.json

The operator's counts:
  curl -sS -H 'Authorization: Bearer ${adminToken}' -H 'Accept: application/json' ${url}/metrics

Stop with Ctrl-C.
`;
}
