import { ERROR_CODES, type ErrorCode } from '../errors/error-code.js';
import { errorBody } from '../errors/error-body.js';
import type { AppErrorExtras } from '../errors/app-error.js';
import { toJsonSchema } from './json-schema.js';
import { OPERATIONS } from './operations.js';

type Json = Record<string, unknown>;

/** The names of the shared responses, each with its status. */
export const SHARED_RESPONSES = {
  BadRequest: 400,
  Unauthenticated: 401,
  Forbidden: 403,
  NotFound: 404,
  RateLimited: 429,
  Internal: 500,
  UpstreamError: 502,
  Unavailable: 503,
} as const;

/** One of {@link SHARED_RESPONSES}. */
export type SharedResponse = keyof typeof SHARED_RESPONSES;

/** One way in which a shared response comes about. */
interface Case {
  code: ErrorCode;
  message: string;
  extras?: AppErrorExtras;
}

const wait = (retryAfterSeconds: number, limit: string): AppErrorExtras => ({ limit, retryAfterSeconds });

const CASES: Record<SharedResponse, { description: string; headers?: string[]; cases: Case[] }> = {
  BadRequest: {
    description: 'The input is not what the schema allows; `errors` names every mistake.',
    cases: [
      {
        code: 'INVALID_ARGUMENT',
        message: 'Invalid arguments: pageSize: must be at most 100.',
        extras: { errors: [{ path: 'pageSize', message: 'must be at most 100' }] },
      },
    ],
  },
  Unauthenticated: {
    description: 'No credential, or one that TiDB Cloud rejects. Stop retrying with it.',
    headers: ['WWW-Authenticate'],
    cases: [{ code: 'UNAUTHENTICATED', message: 'TiDB Cloud rejected this credential.' }],
  },
  Forbidden: {
    description: 'The credential, the origin or the host may not do this.',
    cases: [{ code: 'FORBIDDEN', message: 'TiDB Cloud does not allow this (code 49900003).' }],
  },
  NotFound: {
    description: 'TiDB Cloud has nothing under this id for this credential.',
    cases: [{ code: 'NOT_FOUND', message: 'TiDB Cloud has nothing under this id for your credential.' }],
  },
  RateLimited: {
    description:
      'A limit was met; `limit` says which. After `Retry-After` seconds the same call works again, except that `quota` lasts until the next UTC midnight: stop retrying with this key. `upstream` is a limit of TiDB Cloud itself.',
    headers: ['Retry-After'],
    cases: [
      {
        code: 'TENANT_RATE_LIMITED',
        message: 'Rate limited: this API key exceeded its per-second request limit. Retry in 3s.',
        extras: wait(3, 'tenant'),
      },
      {
        code: 'TENANT_QUOTA_EXHAUSTED',
        message: 'Quota exhausted: this API key has used up its calls of this UTC day. Stop retrying with it.',
        extras: wait(41_112, 'quota'),
      },
      {
        code: 'GLOBAL_RATE_LIMITED',
        message: 'Rate limited: the server as a whole is busy, not this API key. Retry in 1s.',
        extras: wait(1, 'global'),
      },
      {
        code: 'PREAUTH_RATE_LIMITED',
        message: 'Rate limited: too many requests from this address without an accepted credential. Retry in 1s.',
        extras: wait(1, 'preauth'),
      },
      {
        code: 'UPSTREAM_RATE_LIMITED',
        message: "TiDB Cloud's own limit for this key is reached. Retry in 21s.",
        extras: wait(21, 'upstream'),
      },
    ],
  },
  Internal: {
    description: 'A fault of this server.',
    cases: [{ code: 'INTERNAL', message: 'This server failed to do that.' }],
  },
  UpstreamError: {
    description: 'TiDB Cloud answered something unreadable, or rejected the key that this server itself works with.',
    cases: [
      { code: 'UPSTREAM_ERROR', message: 'TiDB Cloud answered something that this server cannot read.' },
      { code: 'SERVER_KEY_REJECTED', message: "TiDB Cloud rejected this server's own key." },
    ],
  },
  Unavailable: {
    description: 'TiDB Cloud cannot be asked at the moment, or this instance is shutting down.',
    headers: ['Retry-After'],
    cases: [
      {
        code: 'UPSTREAM_UNAVAILABLE',
        message: 'TiDB Cloud is not available at the moment.',
        extras: { retryAfterSeconds: 1 },
      },
      { code: 'SHUTTING_DOWN', message: 'This instance is shutting down.' },
    ],
  },
};

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
  const { description, headers = [], cases } = CASES[name];
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
