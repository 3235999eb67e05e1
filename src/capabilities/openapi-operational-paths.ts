import type { OpenAPIObject } from '@nestjs/swagger';

type PathsObject = OpenAPIObject['paths'];

const JSON_OBJECT = { 'application/json': { schema: { type: 'object', additionalProperties: true } } } as const;

const FOREIGN_ORIGIN = {
  description: 'A browser page of an origin that may not call.',
  content: { 'application/json': { schema: { $ref: '#/components/schemas/JsonRpcError' } } },
} as const;

const probe = (operationId: string, summary: string, description: string, failure: string): PathsObject[string] => ({
  get: {
    operationId,
    summary,
    description,
    tags: ['Operations'],
    security: [],
    responses: {
      '200': { description: 'Yes.', content: JSON_OBJECT },
      '403': FOREIGN_ORIGIN,
      '503': { description: failure, content: JSON_OBJECT },
    },
  },
});

/** The routes of whoever runs the server, which are no calls and have no operation behind them. Contract: "Surfaces". */
export const OPERATIONAL_PATHS: PathsObject = {
  '/health/live': probe(
    'getLiveness',
    'Whether the process lives',
    'For the orchestrator: restart the process where this does not answer.',
    'The process is not able to serve.',
  ),
  '/health/ready': probe(
    'getReadiness',
    'Whether to send requests here',
    'For the load balancer. Also 200 while the control database is away; the details then have `degraded: true`.',
    'The instance is shutting down.',
  ),
  '/metrics': {
    get: {
      operationId: 'getMetrics',
      summary: 'Metrics',
      description:
        'Prometheus text, or a JSON snapshot with `Accept: application/json`. Where the operator has set an admin token, it is needed as a bearer token.',
      tags: ['Operations'],
      security: [{}, { bearer: [] }],
      responses: {
        '200': {
          description: 'The metrics, at most a second old.',
          content: { 'text/plain': { schema: { type: 'string' } }, ...JSON_OBJECT },
        },
        '401': {
          description: 'The admin token is missing or wrong.',
          content: { 'application/json': { schema: { $ref: '#/components/schemas/JsonRpcError' } } },
        },
        '403': FOREIGN_ORIGIN,
        '429': {
          description: 'Too many requests from this address without the admin token.',
          content: { 'application/json': { schema: { $ref: '#/components/schemas/JsonRpcError' } } },
        },
      },
    },
  },
};
