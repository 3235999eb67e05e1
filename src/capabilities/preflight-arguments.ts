import type { DestructiveOperation } from '../confirm/destructive-operation.js';
import { toJsonSchema } from './json-schema.js';

type Schema = Record<string, unknown>;
type Arguments = { properties: Record<string, Schema>; required?: string[]; oneOf?: { required: string[] }[] };

/**
 * The arguments of all operations as one object, each member once: a union of eight objects would repeat most of them,
 * and many models read the first of a union only. Which members belong to which operation is said by {@link signature}.
 */
export function argumentsOfAll(operations: readonly DestructiveOperation[]): Schema {
  const properties: Record<string, Schema> = {};
  for (const { name, arguments: schema } of operations) {
    for (const [member, said] of Object.entries(argumentsOf(schema).properties)) {
      const before = properties[member];
      properties[member] = before === undefined || same(before, said) ? said : either(before, said, name);
    }
  }
  return { properties, additionalProperties: false };
}

/** An operation and its arguments as one would call it, such as `get(id, at?)`; of those with `|` between, just one. */
export function signature({ name, arguments: schema }: DestructiveOperation): string {
  const { properties, required = [], oneOf = [] } = argumentsOf(schema);
  const exclusive = oneOf.flatMap((choice) => choice.required);
  const others = Object.keys(properties).filter((member) => !exclusive.includes(member));
  const told = others.map((member) => (required.includes(member) ? member : `${member}?`));
  return `${name}(${[...(exclusive.length === 0 ? [] : [exclusive.join(' | ')]), ...told].join(', ')})`;
}

function argumentsOf(schema: DestructiveOperation['arguments']): Arguments {
  return toJsonSchema(schema, 'input') as unknown as Arguments;
}

/** What both take: no rule of only one of them stays, and the words of both are told. */
function either(before: Schema, said: Schema, name: string): Schema {
  const common = Object.entries(before).filter(([keyword, value]) => same(value, said[keyword]));
  return {
    ...Object.fromEntries(common),
    description: `${String(before.description)} For ${name}: ${String(said.description)}`,
  };
}

function same(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
