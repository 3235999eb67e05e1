import {
  type CallToolResult,
  type InputRequiredResult,
  ProtocolError,
  ProtocolErrorCode,
  type Server,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/server/validators/ajv';
import type { Operation } from './operation.js';
import { ProtocolServer } from './mcp-protocol-server.js';
import { OPERATION_BY_TOOL, READ_ONLY_TOOL_LIST, TOOL_LIST } from './mcp-tools.js';
import { SERVER_NAME, SERVER_VERSION } from './package-version.js';

/** Runs an operation for a tool call; every failure that a model can act on is a result, not an exception. */
export type CallTool = (
  operation: Operation,
  args: unknown,
  context: ServerContext,
) => Promise<CallToolResult | InputRequiredResult>;

/** What a server says of itself to whoever connects. */
export interface McpServerParts {
  readonly instructions: string;
  readonly readOnly: boolean;
  readonly callTool: CallTool;
}

const SERVER_INFO = { name: SERVER_NAME, title: 'TiDB Cloud', version: SERVER_VERSION };

/** The list of tools changes with the version of this server only. */
const TOOL_LIST_HINT = { ttlMs: 3_600_000, cacheScope: 'public' } as const;

/** Made once: by default each server makes a validator of its own, which costs more than the rest of it. */
const SHARED_VALIDATOR = new AjvJsonSchemaValidator();

/** How much of a caller's text is written back. */
const LONGEST_ECHO = 64;

/**
 * One server of the MCP SDK for one request (HTTP) or one connection (stdio). The SDK speaks the protocol; the list of
 * tools is built once and shared.
 */
export function createMcpServer({ instructions, readOnly, callTool }: McpServerParts): Server {
  const server = new ProtocolServer(SERVER_INFO, {
    capabilities: { tools: {} },
    instructions,
    jsonSchemaValidator: SHARED_VALIDATOR,
    cacheHints: { 'tools/list': TOOL_LIST_HINT },
  });
  const list = readOnly ? READ_ONLY_TOOL_LIST : TOOL_LIST;
  server.setRequestHandler('tools/list', () => list);
  server.setRequestHandler('tools/call', (request, context) => {
    const { name, arguments: args } = request.params;
    const operation = OPERATION_BY_TOOL.get(name);
    if (operation === undefined)
      throw unknownTool(
        name,
        list.tools.map((tool) => tool.name),
      );
    return callTool(operation, args, context);
  });
  return server;
}

function unknownTool(name: string, known: string[]): ProtocolError {
  return new ProtocolError(
    ProtocolErrorCode.InvalidParams,
    `There is no tool ${JSON.stringify(name.slice(0, LONGEST_ECHO))}. Tools: ${known.join(', ')}.`,
  );
}
