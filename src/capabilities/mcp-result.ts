import type { CallToolResult } from '@modelcontextprotocol/server';
import type { AppError } from '../errors/app-error.js';
import type { Operation } from './operation.js';

/** An operation's result as a tool result: structured, and the same as JSON text for clients that read only text. */
export function toolResult(operation: Operation, value: Record<string, unknown>): CallToolResult {
  const isError = operation.failure?.(value) !== undefined;
  return {
    ...(isError ? { isError } : {}),
    content: [{ type: 'text', text: operation.json?.(value) ?? JSON.stringify(value) }],
    structuredContent: value,
  };
}

/**
 * An expected failure as a tool result, so that the model reads it and can act on it. The wait stands in the sentence
 * too, since some clients show text alone. Contract: "Refusals".
 */
export function toolFailure(error: AppError): CallToolResult {
  const { limit, retryAfterSeconds, errors, details } = error.extras;
  return {
    isError: true,
    content: [{ type: 'text', text: `${error.code}: ${error.message}` }],
    structuredContent: {
      ...(limit === undefined ? {} : { limit }),
      code: error.code,
      message: error.message,
      ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
      ...(errors === undefined ? {} : { errors }),
      ...details,
    },
  };
}
