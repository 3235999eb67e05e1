import { applyDecorators } from '@nestjs/common';
import { ApiBody, ApiOperation, ApiResponse, ApiSecurity } from '@nestjs/swagger';
import { SECURITY_SCHEMES } from './serves-operation.decorator.js';

const EXAMPLE_CALL = {
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: { name: 'tidb_list_clusters', arguments: { pageSize: 20 } },
};

const ERRORS: [number, string][] = [
  [400, 'Not one JSON-RPC message, or a revision that is not served. A batch is refused: one request, one call.'],
  [401, 'No credential, or one that TiDB Cloud rejects.'],
  [403, 'An origin or a host that may not call.'],
  [404, 'Newer revisions: a method that is not served.'],
  [408, 'The body did not arrive in time.'],
  [413, 'The body is too large.'],
  [415, 'The body is not JSON.'],
  [429, 'One of the four limits; `error.data.limit` says which, `Retry-After` how long.'],
  [500, 'A fault of this server.'],
  [503, 'TiDB Cloud cannot be asked whether it accepts the credential, or this instance is shutting down.'],
];

/** What the OpenAPI document says of the MCP endpoint: where it is and how it refuses; the protocol says the rest. */
export function DocumentsMcp(): MethodDecorator {
  return applyDecorators(
    ApiOperation({
      operationId: 'callMcp',
      summary: 'MCP endpoint',
      description:
        'The Model Context Protocol over Streamable HTTP, stateless, for the revisions 2024-11-05 to 2026-07-28. Use an MCP client; the same operations are tools there.',
      tags: ['MCP'],
    }),
    ApiBody({
      description: 'One JSON-RPC message.',
      required: true,
      schema: { type: 'object', additionalProperties: true },
      examples: { call: { summary: 'Call a tool', value: EXAMPLE_CALL } },
    }),
    ApiResponse({
      status: 200,
      description: 'The answer, in JSON for every revision.',
      content: { 'application/json': { schema: { type: 'object', additionalProperties: true } } },
    }),
    ApiResponse({ status: 202, description: 'A notification was taken; there is no answer.' }),
    ...ERRORS.map(([status, description]) =>
      ApiResponse({
        status,
        description,
        content: { 'application/json': { schema: { $ref: '#/components/schemas/JsonRpcError' } } },
      }),
    ),
    ...SECURITY_SCHEMES.map((scheme) => ApiSecurity(scheme)),
  );
}
