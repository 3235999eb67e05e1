import { existsSync, readFileSync } from 'node:fs';
import { Ajv, type ValidateFunction } from 'ajv';
import addFormatsModule from 'ajv-formats';
import type { UpstreamHost } from '../../src/tidb-cloud/upstream-request.js';

const FOLDER = new URL('../../../shared/reference/tidb-cloud-openapi/', import.meta.url);

/** Whether TiDB Cloud's documents lie beside the project; they are no part of it. */
export const hasReference = existsSync(FOLDER);

/** Where a title says why its tests were skipped. */
export const REFERENCE_NOTE = hasReference ? '' : ' (skipped: no ../shared/reference/tidb-cloud-openapi here)';

interface Parameter {
  readonly name: string;
  readonly in: 'query' | 'path' | 'body';
  readonly required?: boolean;
  readonly type?: string;
  readonly enum?: readonly string[];
  readonly schema?: object;
}

interface SwaggerOperation {
  readonly operationId?: string;
  readonly parameters?: readonly Parameter[];
  readonly responses: Readonly<Record<string, { readonly schema?: object }>>;
}

interface Swagger {
  readonly basePath?: string;
  readonly paths: Readonly<Record<string, Readonly<Record<string, SwaggerOperation>>>>;
  readonly definitions: object;
}

interface OperationParts {
  readonly host: UpstreamHost;
  readonly method: string;
  /** With `/v1beta1`, as the document writes it. */
  readonly template: string;
  readonly operation: SwaggerOperation;
  readonly ajv: Ajv;
  /** Of the whole document, as JSON Schema. */
  readonly definitions: object;
}

/** One operation of TiDB Cloud's documents. */
export class ReferenceOperation {
  private readonly pattern: RegExp;

  constructor(private readonly parts: OperationParts) {
    const escaped = parts.template.replaceAll(/[.*+?^$()|[\]\\]/g, '\\$&').replaceAll(/\{[^}]+\}/g, '[^/:]+');
    this.pattern = new RegExp(`^${escaped}$`);
  }

  matches(host: UpstreamHost, method: string, pathname: string): boolean {
    return this.parts.host === host && this.parts.method === method && this.pattern.test(pathname);
  }

  parameters(where: Parameter['in']): readonly Parameter[] {
    return (this.parts.operation.parameters ?? []).filter((parameter) => parameter.in === where);
  }

  /** What is wrong with a request body; empty where nothing is. */
  bodyProblems(body: unknown): string {
    const [parameter] = this.parameters('body');
    if (parameter?.schema === undefined) return body === undefined ? '' : 'no body is documented';
    return body === undefined ? 'a body is required' : this.problems(parameter.schema, body);
  }

  /** What is wrong with a response body of this status; empty where nothing is. */
  responseProblems(status: number, body: unknown): string {
    const { responses } = this.parts.operation;
    // IAM documents one error status, whose shape stands for all of its own errors.
    const response = responses[String(status)] ?? responses['default'] ?? responses['400'];
    return response?.schema === undefined ? 'no schema is documented' : this.problems(response.schema, body);
  }

  private problems(schema: object, value: unknown): string {
    const { ajv, definitions } = this.parts;
    const validate: ValidateFunction = ajv.compile({ ...toJsonSchema(schema), definitions });
    if (validate(value)) return '';
    return ajv.errorsText(validate.errors, { separator: '\n' });
  }
}

/** The operations of the documents that this server works with: clusters, branches, backups, projects. */
export function loadReference(): ReferenceOperation[] {
  const files: [string, UpstreamHost][] = [
    ['cluster.swagger.json', 'serverless'],
    ['branch.swagger.json', 'serverless'],
    ['br.swagger.json', 'serverless'],
    ['iam.swagger.json', 'iam'],
  ];
  return files.flatMap(([file, host]) => {
    const swagger = JSON.parse(readFileSync(new URL(file, FOLDER), 'utf8')) as Swagger;
    const ajv = new Ajv({ strict: false, allErrors: true });
    addFormatsModule.default(ajv);
    const definitions = toJsonSchema(swagger.definitions);
    return Object.entries(swagger.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => {
        const template = `${swagger.basePath ?? ''}${path}`;
        return new ReferenceOperation({ host, method: method.toUpperCase(), template, operation, ajv, definitions });
      }),
    );
  });
}

/**
 * Swagger 2.0 as JSON Schema: `x-nullable` becomes a null, and an object takes no member that the document does not
 * name, so that neither the sandbox nor a request can grow fields that TiDB Cloud does not have.
 */
function toJsonSchema(node: object): object {
  const converted = Object.fromEntries(
    Object.entries(node).map(([key, value]) => [
      key,
      typeof value === 'object' && value !== null ? convert(value) : value,
    ]),
  );
  if (converted['x-nullable'] === true) return { anyOf: [{ type: 'null' }, { ...converted, 'x-nullable': false }] };
  const closed = converted['type'] === 'object' && 'properties' in converted && !('additionalProperties' in converted);
  return closed ? { ...converted, additionalProperties: false } : converted;
}

function convert(value: object): object {
  return Array.isArray(value)
    ? value.map((item: unknown) => (typeof item === 'object' && item !== null ? convert(item) : item))
    : toJsonSchema(value);
}
