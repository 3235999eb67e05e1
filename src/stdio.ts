import type { Readable, Writable } from 'node:stream';
import { type INestApplicationContext, Logger } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { Server } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { fingerprintOf } from './auth/identify.js';
import { runTool } from './capabilities/mcp-call.js';
import { stdioInstructions } from './capabilities/mcp-instructions.js';
import { type CallTool, createMcpServer } from './capabilities/mcp-server.js';
import { OperationRunner } from './capabilities/operation-runner.service.js';
import type { Config } from './config/config.js';
import { ControlDatabaseService } from './control-db/control-database.service.js';
import { localControlDbUrl } from './control-db/state-folder.adapter.js';
import { createLogService } from './observability/observability.module.js';
import { TelemetryService } from './observability/telemetry.service.js';
import type { TenantContext } from './request/credential.js';
import { StdioConnection } from './capabilities/stdio-connection.adapter.js';
import { StdioModule } from './capabilities/stdio.module.js';

/** Exit status of a configuration that cannot work. Contract: "Commands". */
const EXIT_CONFIGURATION = 78;

/** Answers under way get this much longer than one upstream request may take, once the input has ended. */
const DRAIN_MARGIN_MS = 1000;
const LONGEST_DRAIN_MS = 60_000;

/** The streams of the process; tests bring their own. */
export interface StdioStreams {
  stdin: Readable;
  stdout: Writable;
  stderr: Writable;
}

/**
 * Serves MCP over stdin and stdout with the key pair of the configuration, without any limit, until the input ends or
 * the process is told to stop. Nothing but the protocol reaches stdout; logs go to stderr.
 * @returns the exit status: 0 after a clean end, 78 without a key pair
 */
export async function startStdio(
  config: Config,
  warnings: readonly string[] = [],
  streams: StdioStreams = process,
): Promise<number> {
  const tenant = localTenant(config);
  if (tenant === undefined) {
    streams.stderr.write(
      'TIDB_CLOUD_PUBLIC_KEY=: is not set, allowed: on stdio the public key of a TiDB Cloud API key, and its private key in TIDB_CLOUD_PRIVATE_KEY\n',
    );
    return EXIT_CONFIGURATION;
  }
  const onStdio: Config = { ...config, transport: 'stdio', controlDbUrl: controlDbUrlOf(config) };
  const app = await NestFactory.createApplicationContext(StdioModule.forRoot(onStdio), {
    logger: createLogService(onStdio),
    abortOnError: false,
  });
  const logger = new Logger('Stdio');
  for (const warning of warnings) logger.warn(warning);
  // Only the ledger of confirmations needs it; it connects in the background.
  app.get(ControlDatabaseService, { strict: false }).open();
  const drainMs = Math.min(config.upstreamTimeoutMs + DRAIN_MARGIN_MS, LONGEST_DRAIN_MS);
  const connection = new StdioConnection(streams.stdin, streams.stdout, drainMs);
  app.get(TelemetryService, { strict: false }).serves();
  await serveUntilClosed(connection, () => {
    const { readOnly } = config;
    return createMcpServer({ instructions: stdioInstructions(readOnly), readOnly, callTool: callToolOf(app, tenant) });
  });
  await app.close();
  return 0;
}

async function serveUntilClosed(connection: StdioConnection, makeServer: () => Server): Promise<void> {
  const logger = new Logger('Stdio');
  const server = serveStdio(makeServer, {
    transport: connection,
    // The message may quote what the client wrote.
    onerror: (error) => logger.debug(`The connection reported ${error.name}.`),
  });
  const stop = () => void server.close();
  process.once('SIGTERM', stop).once('SIGINT', stop);
  await connection.closed;
  process.off('SIGTERM', stop).off('SIGINT', stop);
}

function callToolOf(app: INestApplicationContext, tenant: TenantContext): CallTool {
  const run = runTool(app.get(OperationRunner), ({ mcpReq: { signal } }) => ({ tenant, signal, surface: 'mcp' }));
  return async (operation, args, context) => (await run(operation, args, context)).result;
}

/** A local server that was told no control database has one of its own. */
function controlDbUrlOf({ declared, controlDbUrl }: Config): string {
  return declared.includes('controlDbUrl') ? controlDbUrl : localControlDbUrl(process.env);
}

/** The one user of a local server, who works with the configured key. */
function localTenant({ tidbCloudPublicKey, tidbCloudPrivateKey }: Config): TenantContext | undefined {
  if (tidbCloudPublicKey === undefined || tidbCloudPrivateKey === undefined) return undefined;
  const credential = { kind: 'api-key', publicKey: tidbCloudPublicKey, privateKey: tidbCloudPrivateKey } as const;
  const fingerprint = fingerprintOf(credential);
  return { identity: { kind: 'api-key', fingerprint, tenant: fingerprint, credential }, session: { credential } };
}
