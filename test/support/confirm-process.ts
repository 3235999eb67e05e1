import { parseConfig } from '../../src/config/parse-config.js';
import { runServer } from '../../src/serve.js';

/**
 * One server in a process of its own, in front of a sandbox in another. Prints where it listens, and ends with its
 * input.
 */
export async function main([controlDbUrl, serverlessUrl, iamUrl]: string[]): Promise<void> {
  const parsed = parseConfig({
    TIDB_MCP_PORT: '0',
    TIDB_MCP_CONTROL_DB_URL: controlDbUrl,
    TIDB_MCP_TELEMETRY: 'off',
    TIDB_MCP_LOG_LEVEL: 'fatal',
    TIDB_MCP_SHUTDOWN_GRACE_SECONDS: '0',
    TIDB_MCP_TENANT_RPS: '1000',
    TIDB_MCP_TENANT_BURST: '1000',
    TIDB_MCP_SERVERLESS_API_URL: serverlessUrl,
    TIDB_MCP_IAM_API_URL: iamUrl,
  });
  if (!parsed.ok) throw new Error(parsed.problems.join('\n'));
  const running = await runServer(parsed.config);
  process.stdout.write(`${running.url}\n`);
  process.stdin.resume();
  await new Promise((resolve) => process.stdin.once('end', resolve));
  await running.stop();
}
