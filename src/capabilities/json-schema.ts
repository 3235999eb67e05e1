import { z } from 'zod';

/** A JSON Schema as it is sent, without references, so that every reader can take it as it stands. */
export type JsonSchema = { type: 'object' } & Record<string, unknown>;

/**
 * A zod object as JSON Schema for tools: valid in 2020-12 and in draft-07 alike, and without `$schema`, since readers of
 * one draft refuse a document that names another. Inputs refuse members that they do not name; outputs leave room for
 * members that come later.
 */
export function toJsonSchema(schema: z.ZodObject, io: 'input' | 'output'): JsonSchema {
  const { $schema: _, ...json } = z.toJSONSchema(schema, {
    io,
    override: ({ jsonSchema }) => tidy(jsonSchema, io),
  });
  return { ...json, type: 'object' };
}

/** Takes out what says nothing or promises too much. */
export function tidy(json: z.core.JSONSchema.BaseSchema, io: 'input' | 'output'): void {
  // zod writes the limits of JavaScript's own numbers into every integer, which some clients' parsers overflow on.
  if (json.maximum === Number.MAX_SAFE_INTEGER) delete json.maximum;
  if (json.minimum === Number.MIN_SAFE_INTEGER) delete json.minimum;
  if (io === 'output' && json.additionalProperties === false) delete json.additionalProperties;
}

const failureMembers = {
  code: { type: 'string', description: 'Only in an error: the stable code of what went wrong.' },
  message: { type: 'string', description: 'Only in an error: what went wrong and what to do about it.' },
  limit: {
    type: 'string',
    description: 'Only in an error: which limit was met; `upstream` is one of TiDB Cloud itself.',
  },
  retryAfterSeconds: { type: 'integer', description: 'Only in an error: wait this long before the same call.' },
};

/**
 * The output schema of a tool: its result, or the members of an error. Clients of older SDKs hold the structured
 * content of an error against the same schema and would throw the error away if it did not fit.
 */
export function toolOutputSchema(schema: z.ZodObject): JsonSchema {
  const result = toJsonSchema(schema, 'output');
  const { required, properties, ...rest } = result as JsonSchema & { required?: string[]; properties: object };
  return {
    ...rest,
    properties: { ...failureMembers, ...openOutcome(properties) },
    anyOf: [{ required: required ?? [] }, { required: ['code', 'message'] }],
  };
}

/** The error of a used confirmation has an outcome too, which may be `pending` and so none of a result's. */
function openOutcome(properties: object): object {
  if (!('outcome' in properties)) return properties;
  const { enum: words, ...outcome } = properties.outcome as { enum?: string[]; description?: string };
  return { ...properties, outcome: { ...outcome, description: `${outcome.description} One of ${words?.join(', ')}.` } };
}
