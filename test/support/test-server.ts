import { parseConfig } from '../../src/config/parse-config.js';
import { type Sandbox, type SandboxOptions, startSandbox } from '../../src/sandbox/sandbox.adapter.js';
import { type RunningServer, runServer } from '../../src/serve.js';
import { ManualClock } from './manual-clock.js';

/** The whole product on a free port, in front of a sandbox, under a clock that the test moves. */
export interface TestServer {
  readonly url: string;
  readonly port: number;
  readonly sandbox: Sandbox;
  readonly clock: ManualClock;
  readonly running: RunningServer;
  stop(): Promise<void>;
}

/**
 * Starts one; `env` holds whatever the test wants to differ from the defaults, `shared` a sandbox that others use too.
 */
export async function startTestServer(
  env: Record<string, string> = {},
  sandboxOptions: SandboxOptions = {},
  shared?: Sandbox,
): Promise<TestServer> {
  const sandbox = shared ?? (await startSandbox({ rateLimitPerMinute: 100_000, ...sandboxOptions }));
  const parsed = parseConfig({
    TIDB_MCP_PORT: '0',
    TIDB_MCP_CONTROL_DB_URL: 'sqlite::memory:',
    TIDB_MCP_TELEMETRY: 'off',
    TIDB_MCP_LOG_LEVEL: 'fatal',
    TIDB_MCP_SHUTDOWN_GRACE_SECONDS: '0',
    TIDB_MCP_SERVERLESS_API_URL: sandbox.serverlessUrl,
    TIDB_MCP_IAM_API_URL: sandbox.iamUrl,
    ...env,
  });
  if (!parsed.ok) throw new Error(parsed.problems.join('\n'));
  const clock = new ManualClock();
  const running = await runServer(parsed.config, clock);
  const stop = async (): Promise<void> => {
    await running.stop();
    if (shared === undefined) await sandbox.close();
  };
  return { url: running.url, port: Number(new URL(running.url).port), sandbox, clock, running, stop };
}

/** What an answer was, as far as tests look at it. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // What an answer holds is the test's own claim.
  // oxlint-disable-next-line typescript/no-explicit-any, typescript/no-unnecessary-type-parameters
  json<T = any>(): T;
}

/** One request with fetch. */
export async function ask(url: string, init: RequestInit = {}): Promise<Answer> {
  const response = await fetch(url, init);
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, json: () => JSON.parse(text) };
}

/** The headers of a bearer credential. */
export function bearer(credential: string): { headers: Record<string, string> } {
  return { headers: { authorization: `Bearer ${credential}` } };
}

/** A POST to `/mcp` of the older era; `params` of `tools/call` unless a method is given. */
export function rpc(body: unknown, credential?: string, headers: Record<string, string> = {}): RequestInit {
  return {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...(credential === undefined ? {} : { authorization: `Bearer ${credential}` }),
      ...headers,
    },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  };
}

/** The JSON-RPC request that calls a tool. */
export function callTool(name: string, args: Record<string, unknown> = {}): Record<string, unknown> {
  return { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } };
}
