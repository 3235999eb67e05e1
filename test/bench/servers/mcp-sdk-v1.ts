// The older MCP SDK as its own examples have it: stateless, a server and a transport for each request; TOOLS tools, each
// answering what the product's `tidb_capabilities` answers.
import { createServer, type IncomingMessage } from 'node:http';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { capabilitiesReport } from '../../../src/capabilities/capabilities-report.js';
import { BODY, PORT } from './environment.js';

const report = JSON.parse(BODY) as Record<string, unknown>;
const tools = Array.from({ length: Number(process.env['TOOLS'] ?? 1) }, (_, n) => `tidb_capabilities${n || ''}`);
const annotations = { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false };
const description = 'Says which rate limits and which daily quota are in force on this server.';

function serverOfOneRequest(): McpServer {
  const server = new McpServer({ name: 'sdk-v1', version: '1.0.0' });
  for (const name of tools) {
    server.registerTool(
      name,
      { title: name, description, inputSchema: {}, outputSchema: capabilitiesReport.shape, annotations },
      () => ({ content: [{ type: 'text' as const, text: JSON.stringify(report) }], structuredContent: report }),
    );
  }
  return server;
}

async function bodyOf(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return JSON.parse(Buffer.concat(chunks).toString('utf8'));
}

// Longer than any pause between two rounds.
createServer({ keepAliveTimeout: 75_000 }, (request, response) => {
  void (async () => {
    const body = await bodyOf(request);
    const server = serverOfOneRequest();
    const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined });
    response.on('close', () => {
      void transport.close();
      void server.close();
    });
    await server.connect(transport);
    await transport.handleRequest(request, response, body);
  })();
}).listen(PORT, '127.0.0.1');
