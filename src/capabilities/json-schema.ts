import { z } from 'zod';

/** A JSON Schema as it is sent, without references, so that every reader can take it as it stands. */
export type JsonSchema = { type: 'object' } & Record<string, unknown>;

/**
 * A zod object as JSON Schema, with all that it says: valid in 2020-12 and in draft-07 alike, and without `$schema`,
 * since readers of one draft refuse a document that names another. Inputs refuse members that they do not name; outputs
 * leave room for members that come later.
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
