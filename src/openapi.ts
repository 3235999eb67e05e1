import { existsSync, mkdirSync, realpathSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { DocumentBuilder, type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import { McpHttpAdapter } from './capabilities/mcp-http.adapter.js';
import { McpController } from './capabilities/mcp.controller.js';
import { sharedComponents } from './capabilities/openapi-components.js';
import { OperationRunner } from './capabilities/operation-runner.service.js';
import { SERVER_NAME, SERVER_VERSION } from './capabilities/package-version.js';
import { V1Controller } from './capabilities/v1.controller.js';
import { OPERATIONAL_PATHS } from './capabilities/openapi-operational-paths.js';
import { CONFIG } from './config/config.js';

/** Where the committed document is, from the project's root. */
export const OPENAPI_FILE = 'openapi/openapi.json';

const DESCRIPTION = `TiDB Cloud for agents and integration platforms: MCP at \`/mcp\`, REST under \`/v1\`, behind four layers of limits.

Every call needs a credential: a TiDB Cloud API key, as \`Authorization: Basic base64(public:private)\` or \`Bearer public:private\`, or an OAuth access token, as \`Bearer\`. A request that a limit refuses gets 429 with \`Retry-After\`.

What changes something takes two calls: \`POST /v1/preflight\` says what would happen and changes nothing, \`POST /v1/confirm\` performs exactly that, once.`;

const TAGS = [
  ['Server', 'What this server is and which limits are in force.'],
  ['Projects', 'Projects of the organization.'],
  ['Regions', 'Where clusters can be created.'],
  ['Clusters', 'TiDB Cloud Starter and Essential clusters.'],
  ['Branches', 'Branches of a cluster.'],
  ['Backups', 'Backups of a cluster.'],
  ['Changes', 'Everything that changes something, in two steps: preflight, then confirm.'],
  ['MCP', 'The same operations as tools of the Model Context Protocol.'],
  [
    'Operations',
    'For whoever runs this server: health and metrics. Outside the limits; metrics with the admin token, where one is set.',
  ],
] as const;

/** The controllers over nothing: what the document says comes from their decorators, and none of them is called. */
@Module({
  controllers: [V1Controller, McpController],
  providers: [
    { provide: CONFIG, useValue: undefined },
    { provide: OperationRunner, useValue: undefined },
    { provide: McpHttpAdapter, useValue: undefined },
  ],
})
class DocumentedModule {}

/**
 * Builds the OpenAPI document from the decorators. No provider is made, no database is opened and nothing listens.
 * Contract: "Commands".
 */
export async function buildOpenApi(): Promise<OpenAPIObject> {
  const app = await NestFactory.create<NestFastifyApplication>(DocumentedModule, new FastifyAdapter(), {
    abortOnError: false,
    logger: false,
  });
  const document = SwaggerModule.createDocument(app, description());
  await app.close();
  const { schemas, responses, headers } = sharedComponents();
  const complete = {
    ...document,
    servers: [{ url: '/' }],
    paths: { ...document.paths, ...OPERATIONAL_PATHS },
    components: { ...document.components, schemas, responses, headers },
  };
  return sorted(bareReferences(complete)) as OpenAPIObject;
}

/** The document as it is served and committed: sorted, indented, with a line's end at the end. */
export function openApiText(document: OpenAPIObject): string {
  return `${JSON.stringify(document, null, 2)}\n`;
}

/** Writes the document to a file, whose folder is made where it is missing. */
export async function writeOpenApi(file: string): Promise<void> {
  const text = openApiText(await buildOpenApi());
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

/**
 * Serves the document at `/openapi.json` and Swagger UI at `/docs`, both prebuilt, outside the limits, and without
 * asking any other host for anything. To be called before the application listens.
 */
export async function setupDocs(app: NestFastifyApplication): Promise<void> {
  const document = await buildOpenApi();
  const text = JSON.stringify(document);
  app
    .getHttpAdapter()
    .getInstance()
    .route({
      method: 'GET',
      url: '/openapi.json',
      config: { free: true },
      handler: (_request, reply) => reply.type('application/json; charset=utf-8').send(text),
    });
  SwaggerModule.setup('docs', app, document, {
    raw: false,
    customSiteTitle: SERVER_NAME,
    swaggerOptions: { validatorUrl: null, persistAuthorization: false },
  });
}

function description(): Omit<OpenAPIObject, 'paths'> {
  const builder = new DocumentBuilder()
    .setOpenAPIVersion('3.1.0')
    .setTitle(SERVER_NAME)
    .setDescription(DESCRIPTION)
    .setVersion(SERVER_VERSION)
    .setLicense('Apache-2.0', 'https://www.apache.org/licenses/LICENSE-2.0')
    .addSecurity('apiKey', {
      type: 'http',
      scheme: 'basic',
      description: 'A TiDB Cloud API key: the public key as user, the private key as password.',
    })
    .addSecurity('bearer', {
      type: 'http',
      scheme: 'bearer',
      description: 'An OAuth access token, or `public:private` of an API key, or a shared token of this server.',
    });
  for (const [name, what] of TAGS) builder.addTag(name, what);
  return builder.build();
}

/** A reference stands alone: the framework puts an empty description beside it, which would win over the real one. */
function bareReferences(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(bareReferences);
  if (typeof value !== 'object' || value === null) return value;
  if ('$ref' in value) return { $ref: value.$ref };
  return Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, bareReferences(entry)]));
}

/** Members by name, so that the text depends on what is said and never on the order of its making; lists stay. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, entry]) => [key, sorted(entry)]));
}

/** Whether this file is what Node was started with, however the way to it is spelled. */
function isStarted(): boolean {
  const started = process.argv[1];
  return started !== undefined && existsSync(started) && realpathSync(started) === fileURLToPath(import.meta.url);
}

if (isStarted()) await writeOpenApi(OPENAPI_FILE);
