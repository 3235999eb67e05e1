import { applyDecorators, HttpCode, RequestMapping, RequestMethod } from '@nestjs/common';
import { RouteSchema } from '@nestjs/platform-fastify';
import {
  ApiBody,
  ApiOperation,
  ApiParam,
  ApiQuery,
  ApiResponse,
  type ApiResponseOptions,
  ApiSecurity,
} from '@nestjs/swagger';
import { Call } from '../request/route.decorator.js';
import { toJsonSchema } from './json-schema.js';
import { SHARED_RESPONSES, type SharedResponse } from './openapi-responses.js';
import { REQUEST_BODIES } from './openapi-confirmations.js';
import type { Operation } from './operation.js';
import { pathNames } from './route-input.js';

/** The names of the ways to sign in, as the document knows them. */
export const SECURITY_SCHEMES = ['apiKey', 'bearer'] as const;

type ParameterSchema = { description?: string; default?: unknown; type?: string };

/** What every call may be answered; what asks TiDB Cloud may fail there in two more ways. */
const ALWAYS: SharedResponse[] = [
  'BadRequest',
  'Unauthenticated',
  'Forbidden',
  'RateLimited',
  'Internal',
  'Unavailable',
];
const FROM_TIDB_CLOUD: SharedResponse[] = ['NotFound', 'UpstreamError'];
const WITH_BODY: SharedResponse[] = ['RequestTimeout', 'BodyTooLarge', 'UnsupportedMediaType'];
const OF_CONFIRM: SharedResponse[] = ['Conflict', 'Expired'];

/**
 * Makes a method of the REST controller the route of an operation: its path, its mark as a call, and everything that
 * the OpenAPI document says of it.
 */
export function ServesOperation(operation: Operation): MethodDecorator {
  const { route } = operation;
  const errors = [
    ...ALWAYS,
    ...(operation.annotations.openWorldHint ? FROM_TIDB_CLOUD : []),
    ...(route.method === 'POST' ? WITH_BODY : []),
    ...(operation.annotations.destructiveHint ? OF_CONFIRM : []),
  ];
  return applyDecorators(
    RequestMapping({ path: route.path, method: RequestMethod[route.method] }),
    HttpCode(200),
    // Answers are written by it where the operation does not write its own: in half the time, and nothing more.
    RouteSchema({ response: { 200: toJsonSchema(operation.output, 'output') } }),
    Call(),
    ApiOperation({
      operationId: route.operationId,
      summary: operation.title,
      description: operation.description,
      tags: [route.tag],
    }),
    ...(route.method === 'POST' ? [body(operation)] : parameters(operation)),
    ApiResponse(result(operation)),
    ...errors.map(sharedResponse),
    ...SECURITY_SCHEMES.map((scheme) => ApiSecurity(scheme)),
  );
}

/** Refers to one of the shared error responses. */
export function sharedResponse(name: SharedResponse): MethodDecorator & ClassDecorator {
  const reference = { status: SHARED_RESPONSES[name], $ref: `#/components/responses/${name}` };
  return ApiResponse(reference);
}

function parameters(operation: Operation): MethodDecorator[] {
  const inPath = pathNames(operation);
  const { properties = {}, required = [] } = toJsonSchema(operation.input, 'input') as {
    properties?: Record<string, ParameterSchema>;
    required?: string[];
  };
  const examples = operation.example.input;
  return Object.entries(properties).map(([name, { description = '', ...schema }]) => {
    const shown = name in examples ? { examples: [examples[name]] } : {};
    const common = { name, description, schema: { ...schema, ...shown } as object };
    return inPath.includes(name) ? ApiParam(common) : ApiQuery({ ...common, required: required.includes(name) });
  });
}

function body({ name }: Operation): MethodDecorator {
  const documented = REQUEST_BODIES[name];
  if (documented === undefined) throw new Error(`The body of ${name} is not documented.`);
  const { schema, examples } = documented;
  return ApiBody({ required: true, schema: { $ref: `#/components/schemas/${schema}` }, examples: { ...examples } });
}

function result(operation: Operation): ApiResponseOptions {
  const title = operation.output.meta()?.title;
  if (title === undefined) throw new Error(`The output of ${operation.name} has no title to name its schema by.`);
  return {
    status: 200,
    description: operation.title,
    content: {
      'application/json': {
        schema: { $ref: `#/components/schemas/${title}` },
        examples: { [operation.name]: { summary: operation.title, value: operation.example.output } },
      },
    },
  };
}
