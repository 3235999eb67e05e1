import { existsSync, readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { beforeAll, describe, expect, it } from 'vitest';
import { OPERATIONS } from '../../src/capabilities/operations.js';
import { buildOpenApi, OPENAPI_FILE, openApiText } from '../../src/openapi.js';

type Json = Record<string, unknown>;
interface Media {
  schema: Json;
  examples?: Record<string, { value: unknown }>;
}
interface Answer {
  $ref?: string;
  description?: string;
  content?: Record<string, Media>;
}
interface Described {
  operationId: string;
  parameters?: { name: string; in: string; required: boolean; schema: Json }[];
  responses: Record<string, Answer>;
  security?: Json[];
}
interface Document {
  openapi: string;
  info: { version: string };
  paths: Record<string, Record<string, Described>>;
  components: { schemas: Record<string, Json>; responses: Record<string, Answer>; headers: Json };
}

describe('The OpenAPI document', () => {
  let document: Document;
  let text: string;

  beforeAll(async () => {
    const built = await buildOpenApi();
    document = built as unknown as Document;
    text = openApiText(built);
  });

  const operationsOf = () =>
    Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, described]) => ({ path, method, described })),
    );

  it('is the committed file, to the byte', () => {
    expect(existsSync(OPENAPI_FILE), 'run `npm run openapi`').toBe(true);
    expect(readFileSync(OPENAPI_FILE, 'utf8'), 'run `npm run openapi` and commit the file').toBe(text);
  });

  it('comes out the same however often it is built', async () => {
    expect(openApiText(await buildOpenApi())).toBe(text);
  });

  it('has every documented route and no other', () => {
    const routes = operationsOf().map(({ path, method }) => `${method.toUpperCase()} ${path}`);
    const rest = OPERATIONS.map(({ route }) => `${route.method} /v1${route.path.replace(/:(\w+)/g, '{$1}')}`);
    expect(routes.sort()).toEqual(
      [...rest, 'POST /mcp', 'GET /health/live', 'GET /health/ready', 'GET /metrics'].sort(),
    );
  });

  it('promises of MCP what is answered there, whatever the revision: JSON alone', () => {
    const { content = {} } = document.paths['/mcp']?.['post']?.responses['200'] ?? {};
    expect(Object.keys(content)).toEqual(['application/json']);
  });

  it('gives every operation an id of its own', () => {
    const ids = operationsOf().map(({ described }) => described.operationId);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids).toEqual(expect.arrayContaining(OPERATIONS.map(({ route }) => route.operationId)));
  });

  it('refers to nothing that is not there', () => {
    const references = [...text.matchAll(/"\$ref": "#\/([^"]+)"/g)].map(([, pointer]) => pointer ?? '');
    expect(references.length).toBeGreaterThan(50);
    for (const pointer of references) {
      const target = pointer.split('/').reduce<unknown>((node, key) => (node as Json)?.[key], document);
      expect(target, pointer).toBeDefined();
    }
  });

  it('says of every call that it needs a credential and may be refused', () => {
    for (const { path, described } of operationsOf().filter(({ path }) => path.startsWith('/v1/'))) {
      expect(described.security, path).toEqual(expect.arrayContaining([{ apiKey: [] }, { bearer: [] }]));
      expect(described.responses['429'], path).toEqual({ $ref: '#/components/responses/RateLimited' });
      expect(described.responses['401'], path).toEqual({ $ref: '#/components/responses/Unauthenticated' });
    }
  });

  it('shows only examples that fit their schemas', () => {
    const ajv = new Ajv2020({ strict: false, allErrors: true });
    ajv.addSchema({ $id: 'https://document.invalid/', components: document.components });
    const check = (schema: Json, value: unknown, where: string) => {
      const absolute = JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"https://document.invalid/#/')) as Json;
      const valid = ajv.validate(absolute, value);
      expect(valid ? [] : ajv.errors, where).toEqual([]);
    };
    let checked = 0;
    const checkMedia = (answers: Record<string, Answer>, where: string) => {
      for (const [name, { content = {} }] of Object.entries(answers)) {
        for (const { schema, examples = {} } of Object.values(content)) {
          for (const [example, { value }] of Object.entries(examples)) {
            check(schema, value, `${where} ${name} ${example}`);
            checked += 1;
          }
        }
      }
    };
    checkMedia(document.components.responses, 'shared');
    for (const { path, described } of operationsOf()) {
      checkMedia(described.responses, path);
      for (const { name, schema } of described.parameters ?? []) {
        for (const example of (schema['examples'] as unknown[] | undefined) ?? []) {
          check(schema, example, `${path} ${name}`);
          checked += 1;
        }
      }
    }
    expect(checked).toBeGreaterThan(OPERATIONS.length + 16);
  });

  it('never names who created something', () => {
    expect(text).not.toMatch(/createdBy|@[a-z0-9-]+\.[a-z]/i);
  });
});
