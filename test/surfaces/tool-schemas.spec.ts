import { Ajv } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { describe, expect, it } from 'vitest';
import { DESTRUCTIVE_OPERATIONS } from '../../src/capabilities/destructive-operations.js';
import { OPERATION_BY_TOOL, READ_ONLY_TOOL_LIST, TOOL_LIST } from '../../src/capabilities/mcp-tools.js';
import { toolFailure } from '../../src/capabilities/mcp-result.js';
import { argumentsOfAll, signature } from '../../src/capabilities/preflight-arguments.js';
import { AppError } from '../../src/errors/app-error.js';

const READERS = [
  ['2020-12', () => new Ajv2020({ strict: true, strictTypes: true, strictRequired: false, allErrors: true })],
  ['draft-07', () => new Ajv({ strict: true, strictTypes: true, strictRequired: false, allErrors: true })],
] as const;

describe.each(READERS)('A strict reader of JSON Schema %s', (_draft, reader) => {
  it.each(TOOL_LIST.tools)('accepts the schemas of $name', ({ inputSchema, outputSchema }) => {
    expect(() => reader().compile(inputSchema as object)).not.toThrow();
    expect(() => reader().compile(outputSchema as object)).not.toThrow();
  });

  it.each(TOOL_LIST.tools)('finds that the examples of $name fit', ({ name, inputSchema, outputSchema }) => {
    const { example } = OPERATION_BY_TOOL.get(name)!;
    expect(reader().validate(inputSchema as object, example.input)).toBe(true);
    expect(reader().validate(outputSchema as object, example.output)).toBe(true);
  });

  it.each(TOOL_LIST.tools)(
    'finds that an error of $name fits its output, as older clients demand',
    ({ outputSchema }) => {
      const error = new AppError('UPSTREAM_RATE_LIMITED', 'Retry in 3s.', { limit: 'upstream', retryAfterSeconds: 3 });
      const validate = reader().compile(outputSchema as object);
      expect(validate(toolFailure(error).structuredContent)).toBe(true);
      expect(validate({})).toBe(false);
    },
  );
});

describe.each(READERS)('A strict reader of JSON Schema %s', (_draft, reader) => {
  const { inputSchema, outputSchema } = TOOL_LIST.tools.find(({ name }) => name === 'tidb_preflight')!;

  it.each(DESTRUCTIVE_OPERATIONS)('finds that the example of $name fits a preflight', ({ name, example }) => {
    const validate = reader().compile(inputSchema as object);
    expect(validate({ operation: name, arguments: example })).toBe(true);
    expect(validate({ operation: name, arguments: { ...example, colour: 'red' } })).toBe(false);
  });

  it('finds that the error of a used confirmation fits, whatever became of it', () => {
    const confirm = TOOL_LIST.tools.find(({ name }) => name === 'tidb_confirm')!;
    const validate = reader().compile(confirm.outputSchema as object);
    for (const outcome of ['done', 'unknown', 'refused_upstream', 'pending']) {
      const error = new AppError('CONFIRM_USED', 'Used.', { details: { outcome, operation: 'delete_cluster' } });
      expect(validate(toolFailure(error).structuredContent), outcome).toBe(true);
    }
    expect(reader().validate(outputSchema as object, { operation: 'delete_cluster' })).toBe(false);
  });
});

describe('The list of tools', () => {
  it('of a server that changes nothing lacks what changes something', () => {
    const names = READ_ONLY_TOOL_LIST.tools.map(({ name }) => name);
    expect(names).toHaveLength(TOOL_LIST.tools.length - 2);
    expect(names).not.toContain('tidb_preflight');
    expect(names).not.toContain('tidb_confirm');
  });

  it('holds what the contract names, in its order', () => {
    expect(TOOL_LIST.tools.map(({ name }) => name)).toEqual([
      'tidb_capabilities',
      'tidb_list_projects',
      'tidb_list_regions',
      'tidb_list_clusters',
      'tidb_get_cluster',
      'tidb_list_branches',
      'tidb_get_branch',
      'tidb_list_backups',
      'tidb_preflight',
      'tidb_confirm',
    ]);
  });

  it.each(TOOL_LIST.tools)('describes $name completely', (tool) => {
    expect(tool.description?.length).toBeGreaterThan(40);
    const confirms = tool.name === 'tidb_confirm';
    expect(tool.title).toBeTruthy();
    expect(tool.annotations).toMatchObject({
      readOnlyHint: !confirms,
      destructiveHint: confirms,
    });
    expect(tool.inputSchema).toMatchObject({ type: 'object', additionalProperties: false });
    expect(tool.outputSchema).toMatchObject({ type: 'object' });
    for (const [name, schema] of Object.entries(tool.inputSchema.properties ?? {})) {
      expect((schema as { description?: string }).description, `${tool.name}.${name}`).toBeTruthy();
    }
  });

  it('names no draft, refers nowhere and sets no limit that overflows', () => {
    const text = JSON.stringify(TOOL_LIST);
    expect(text).not.toMatch(/\$schema|\$ref|\$defs|"definitions"|9007199254740991|"format"/);
  });

  it('bounds every page', () => {
    for (const { name, inputSchema } of TOOL_LIST.tools.filter((tool) => tool.name.startsWith('tidb_list_'))) {
      expect(inputSchema.properties, name).toMatchObject({ pageSize: { minimum: 1, maximum: 100, default: 20 } });
    }
  });

  it('costs a model less than 4,000 tokens', () => {
    const sizes = TOOL_LIST.tools.map((tool) => [tool.name, countTokens(JSON.stringify(tool))] as const);
    const total = countTokens(JSON.stringify(TOOL_LIST));
    console.log([...sizes, ['tools/list', total] as const].map(([name, tokens]) => `${tokens} ${name}`).join('\n'));
    expect(total).toBeLessThan(4_000);
  });

  it('says in words what its schemas no longer say by rules', () => {
    const preflight = TOOL_LIST.tools.find(({ name }) => name === 'tidb_preflight')!;
    for (const one of DESTRUCTIVE_OPERATIONS) expect(preflight.description).toContain(signature(one));
    expect(preflight.description).toContain('restore_cluster(snapshot | pointInTime)');
    expect(preflight.description).toContain('delete_branch(clusterId, branchId)');
    expect(preflight.description).toContain('Show the summary to the user before you confirm.');
    const { properties } = preflight.inputSchema as unknown as { properties: { arguments: { properties: object } } };
    expect(properties.arguments.properties).toMatchObject({
      displayName: { type: 'string', description: expect.stringMatching(/4 to 64.*create_branch: 1 to 64/) as string },
      autoScaling: { required: ['minRcu', 'maxRcu'] },
    });
  });

  it('never refuses by its schema what an operation takes', () => {
    for (const one of DESTRUCTIVE_OPERATIONS) {
      const members = Object.keys(one.arguments.shape);
      const { properties } = argumentsOfAll(DESTRUCTIVE_OPERATIONS) as { properties: object };
      expect(Object.keys(properties)).toEqual(expect.arrayContaining(members));
    }
  });
});
