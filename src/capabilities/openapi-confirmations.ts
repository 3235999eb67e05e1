import { changedShapes } from './changed.js';
import { DESTRUCTIVE_OPERATIONS } from './destructive-operations.js';
import { toJsonSchema } from './json-schema.js';
import { confirmOperation } from './operations/confirm.operation.js';

type Json = Record<string, unknown>;

/** The body of one route, as the document shows it. */
export interface DocumentedBody {
  readonly schema: string;
  readonly examples: Readonly<Record<string, { summary: string; value: unknown }>>;
}

/**
 * The bodies of the routes that have one. Preflight's is a union that `operation` discriminates, so that a generated
 * client, and a form in an integration platform, knows the arguments of each operation.
 */
export const REQUEST_BODIES: Readonly<Record<string, DocumentedBody>> = {
  preflight: {
    schema: 'PreflightRequest',
    examples: Object.fromEntries(
      DESTRUCTIVE_OPERATIONS.map(({ name, title, example }) => [
        name,
        { summary: title, value: { operation: name, arguments: example } },
      ]),
    ),
  },
  confirm: {
    schema: 'ConfirmRequest',
    examples: { confirm: { summary: 'Confirm a preflight', value: confirmOperation.example.input } },
  },
};

/** The schemas of preflight and confirm, typed by operation. */
export function confirmationSchemas(): Json {
  const schemas: Json = {
    ConfirmRequest: toJsonSchema(confirmOperation.input, 'input'),
    PreflightRequest: union('Preflight', 'What to look at, by operation.'),
    Confirmation: union('Confirmation', 'How it ended, by operation.'),
  };
  const { properties } = toJsonSchema(confirmOperation.output, 'output') as { properties?: { outcome?: Json } };
  for (const { name, title, description, arguments: args, kind } of DESTRUCTIVE_OPERATIONS) {
    const word = pascal(name);
    const operation = { type: 'string', enum: [name] };
    schemas[`${word}Arguments`] = { ...toJsonSchema(args, 'input'), description };
    schemas[`${word}Preflight`] = {
      type: 'object',
      description: title,
      required: ['operation', 'arguments'],
      additionalProperties: false,
      properties: { operation, arguments: reference(`${word}Arguments`) },
    };
    schemas[`${word}Confirmation`] = {
      type: 'object',
      description: title,
      required: ['outcome', 'operation', 'result'],
      properties: { outcome: properties?.outcome, operation, result: reference(changedTitle(kind)) },
    };
  }
  for (const shape of Object.values(changedShapes)) {
    const { title, ...schema } = toJsonSchema(shape, 'output');
    schemas[String(title)] = schema;
  }
  return schemas;
}

function union(suffix: string, description: string): Json {
  const names = DESTRUCTIVE_OPERATIONS.map(({ name }) => [name, `${pascal(name)}${suffix}`] as const);
  return {
    description,
    oneOf: names.map(([, schema]) => reference(schema)),
    discriminator: {
      propertyName: 'operation',
      mapping: Object.fromEntries(names.map(([name, schema]) => [name, reference(schema).$ref])),
    },
  };
}

function changedTitle(kind: keyof typeof changedShapes): string {
  return String(changedShapes[kind].meta()?.title);
}

function reference(schema: string): { $ref: string } {
  return { $ref: `#/components/schemas/${schema}` };
}

/** `create_cluster` as `CreateCluster`. */
function pascal(name: string): string {
  return name.replace(/(?:^|_)([a-z])/g, (_match, letter: string) => letter.toUpperCase());
}
