import type { Tool } from '@modelcontextprotocol/server';
import { type Operation, toolName } from './operation.js';
import { OPERATIONS } from './operations.js';
import { toolInputSchema, toolOutputSchema } from './tool-schema.js';

/** Every operation by the name of its tool. */
export const OPERATION_BY_TOOL: ReadonlyMap<string, Operation> = new Map(
  OPERATIONS.map((operation) => [toolName(operation), operation]),
);

/** The answer to `tools/list`: built once, always in the same order, on one page. */
export const TOOL_LIST: { tools: Tool[] } = { tools: OPERATIONS.map(toTool) };

/** The same on a server that changes nothing. */
export const READ_ONLY_TOOL_LIST: { tools: Tool[] } = {
  tools: TOOL_LIST.tools.filter(({ name }) => OPERATION_BY_TOOL.get(name)?.changes !== true),
};

function toTool(operation: Operation): Tool {
  return {
    name: toolName(operation),
    title: operation.title,
    description: operation.description,
    inputSchema: toolInputSchema(operation.input),
    outputSchema: toolOutputSchema(operation.output),
    annotations: operation.annotations,
  };
}
