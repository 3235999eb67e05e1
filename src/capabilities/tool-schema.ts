import type { z } from 'zod';
import { type JsonSchema, toJsonSchema } from './json-schema.js';

type Schema = Record<string, unknown>;

/** What of a schema is not said to a model, and how many levels of members are. */
interface Brevity {
  readonly unsaid: ReadonlySet<string>;
  readonly levels: number;
}

/**
 * How a text may look is said in words by its description, and again by the answer to a wrong one; nobody writes by a
 * regular expression.
 */
const OF_INPUTS = ['pattern', 'minLength', 'maxLength', 'maxItems', 'propertyNames', 'title'];

/** Every level of an input has to be written, so every level is said. */
const INPUT: Brevity = { unsaid: new Set(OF_INPUTS), levels: Infinity };

/**
 * A result is read, not written: its members and their types are enough to plan by, and theirs in turn. What lies deeper
 * is an object whose names speak once it is there.
 */
const OUTPUT: Brevity = { unsaid: new Set([...OF_INPUTS, 'description', 'enum', 'const', 'required']), levels: 2 };

/**
 * The input schema of a tool: the same members as the operation's own, said in few tokens. It may let through what the
 * operation then refuses in words, never the other way round. Decision 0023.
 */
export function toolInputSchema(schema: z.ZodObject): JsonSchema {
  return lean(toJsonSchema(schema, 'input'), INPUT) as JsonSchema;
}

/**
 * The output schema of a tool, said in few tokens: its result, or the members of an error. Clients of older SDKs hold
 * the structured content of an error against the same schema and would throw the error away if it did not fit.
 */
export function toolOutputSchema(schema: z.ZodObject): JsonSchema {
  const full = toJsonSchema(schema, 'output');
  const anyOf = [{ required: full.required ?? [] }, { required: ['code', 'message'] }];
  return { ...lean(full, OUTPUT), type: 'object', anyOf };
}

/** The schema without what is unsaid; a member may have the name of a keyword. */
function lean(schema: Schema, { unsaid, levels }: Brevity): Schema {
  if (levels === 0 && schema.type === 'object') return { type: 'object' };
  const kept = Object.entries(schema).filter(([keyword]) => !unsaid.has(keyword));
  const inner = { unsaid, levels: levels - 1 };
  return Object.fromEntries(
    kept.map(([keyword, value]) => {
      if (keyword === 'properties') return [keyword, leanMembers(value as Schema, inner)];
      return [keyword, leanValue(value, { unsaid, levels })];
    }),
  );
}

function leanMembers(members: Schema, brevity: Brevity): Schema {
  return Object.fromEntries(Object.entries(members).map(([name, member]) => [name, leanValue(member, brevity)]));
}

function leanValue(value: unknown, brevity: Brevity): unknown {
  if (Array.isArray(value)) return value.map((entry) => leanValue(entry, brevity));
  return typeof value === 'object' && value !== null ? lean(value as Schema, brevity) : value;
}
