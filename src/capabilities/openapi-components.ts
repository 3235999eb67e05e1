import { ERROR_CODES } from '../errors/error-code.js';
import { errorBody } from '../errors/error-body.js';
import { toJsonSchema } from './json-schema.js';
import { confirmationSchemas } from './openapi-confirmations.js';
import { RESPONSE_CASES, SHARED_RESPONSES, type SharedResponse } from './openapi-responses.js';
import { OPERATIONS } from './operations.js';

type Json = Record<string, unknown>;

const PROBLEM: Json = {
  type: 'object',
  description: 'An error (RFC 9457). `code` is stable; `detail` says what to do.',
  required: ['type', 'title', 'status', 'detail', 'code'],
  properties: {
    type: { type: 'string' },
    title: { type: 'string' },
    status: { type: 'integer' },
    detail: { type: 'string' },
    code: { type: 'string', enum: Object.keys(ERROR_CODES) },
    limit: { type: 'string', enum: ['preauth', 'tenant', 'quota', 'global', 'upstream'] },
    retryAfterSeconds: { type: 'integer', minimum: 1 },
    outcome: {
      type: 'string',
      enum: ['done', 'unknown', 'refused_upstream', 'pending'],
      description: 'Only with CONFIRM_USED: how the confirmation ended that was used, or that it is still running.',
    },
    operation: { type: 'string', description: 'Only with CONFIRM_USED.' },
    result: { type: 'object', description: 'Only with CONFIRM_USED: what was answered then.' },
    errors: {
      type: 'array',
      items: {
        type: 'object',
        required: ['path', 'message'],
        properties: {
          path: { type: 'string', description: 'The member or parameter; empty for the whole.' },
          message: { type: 'string' },
        },
      },
    },
  },
};

const JSON_RPC_ERROR: Json = {
  type: 'object',
  description: 'An error of JSON-RPC 2.0. `data.code` is stable; `message` says what to do.',
  required: ['jsonrpc', 'error'],
  properties: {
    jsonrpc: { type: 'string' },
    id: { description: 'Null, or absent for newer revisions of MCP.' },
    error: {
      type: 'object',
      required: ['code', 'message'],
      properties: {
        code: { type: 'integer' },
        message: { type: 'string' },
        data: {
          type: 'object',
          properties: {
            code: { type: 'string' },
            limit: { type: 'string' },
            retryAfterSeconds: { type: 'integer' },
          },
        },
      },
    },
  },
};

const HEADERS: Record<string, Json> = {
  'Retry-After': {
    description: 'Whole seconds after which the same request is worth sending again.',
    schema: { type: 'integer', minimum: 1 },
  },
  'WWW-Authenticate': { description: 'The schemes that are taken: Basic and Bearer.', schema: { type: 'string' } },
};

/** The `components` that decorators refer to: schemas of results and problems, shared error responses, headers. */
export function sharedComponents(): { schemas: Json; responses: Json; headers: Json } {
  const schemas: Json = { Problem: PROBLEM, JsonRpcError: JSON_RPC_ERROR };
  for (const { output } of OPERATIONS) nameTitled(toJsonSchema(output, 'output'), schemas);
  Object.assign(schemas, confirmationSchemas());
  const names = Object.keys(SHARED_RESPONSES) as SharedResponse[];
  return {
    schemas,
    responses: Object.fromEntries(names.map((name) => [name, sharedResponse(name)])),
    headers: HEADERS,
  };
}

/** Moves every schema that has a title into `schemas` under it, and leaves a reference. */
function nameTitled(schema: unknown, schemas: Json): unknown {
  if (Array.isArray(schema)) return schema.map((entry) => nameTitled(entry, schemas));
  if (typeof schema !== 'object' || schema === null) return schema;
  const { title, ...rest } = schema as Json;
  const named = Object.fromEntries(Object.entries(rest).map(([key, value]) => [key, nameTitled(value, schemas)]));
  if (typeof title !== 'string') return named;
  schemas[title] = named;
  return { $ref: `#/components/schemas/${title}` };
}

function sharedResponse(name: SharedResponse): Json {
  const { description, headers = [], cases } = RESPONSE_CASES[name];
  const examples = cases.map(({ code, message, extras }) => [
    code,
    { summary: ERROR_CODES[code].title, value: JSON.parse(errorBody('v1', false, code, message, extras).body) as Json },
  ]);
  return {
    description,
    ...(headers.length === 0
      ? {}
      : { headers: Object.fromEntries(headers.map((header) => [header, { $ref: `#/components/headers/${header}` }])) }),
    content: {
      'application/problem+json': {
        schema: { $ref: '#/components/schemas/Problem' },
        examples: Object.fromEntries(examples) as Json,
      },
    },
  };
}
