import type { Readable, Writable } from 'node:stream';
import { type INestApplicationContext, Logger } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { fingerprintOf } from './auth/identify.js';
import { STDIO_INSTRUCTIONS } from './capabilities/mcp-instructions.js';
import { toolFailure, toolResult } from './capabilities/mcp-result.js';
import { type CallTool, createMcpServer } from './capabilities/mcp-server.js';
import { OperationRunner } from './capabilities/operation-runner.service.js';
import type { Config } from './config/config.js';
import { AppError } from './errors/app-error.js';
import { createLogService } from './observability/observability.module.js';
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
  const onStdio: Config = { ...config, transport: 'stdio' };
  const app = await NestFactory.createApplicationContext(StdioModule.forRoot(onStdio), {
    logger: createLogService(onStdio),
    abortOnError: false,
  });
  const logger = new Logger('Stdio');
  for (const warning of warnings) logger.warn(warning);
  const drainMs = Math.min(config.upstreamTimeoutMs + DRAIN_MARGIN_MS, LONGEST_DRAIN_MS);
  const connection = new StdioConnection(streams.stdin, streams.stdout, drainMs);
  await serveUntilClosed(connection, callToolOf(app, tenant));
  await app.close();
  return 0;
}

async function serveUntilClosed(connection: StdioConnection, callTool: CallTool): Promise<void> {
  const logger = new Logger('Stdio');
  const server = serveStdio(() => createMcpServer(STDIO_INSTRUCTIONS, callTool), {
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
  const runner = app.get(OperationRunner);
  return async (operation, args, context) => {
    try {
      const caller = { tenant, signal: context.mcpReq.signal, surface: 'mcp' } as const;
      return toolResult(await runner.run(operation, caller, args));
    } catch (error) {
      if (error instanceof AppError) return toolFailure(error);
      throw error;
    }
  };
}

/** The one user of a local server, who works with the configured key. */
function localTenant({ tidbCloudPublicKey, tidbCloudPrivateKey }: Config): TenantContext | undefined {
  if (tidbCloudPublicKey === undefined || tidbCloudPrivateKey === undefined) return undefined;
  const credential = { kind: 'api-key', publicKey: tidbCloudPublicKey, privateKey: tidbCloudPrivateKey } as const;
  return { identity: { kind: 'api-key', fingerprint: fingerprintOf(credential), credential }, session: { credential } };
}
