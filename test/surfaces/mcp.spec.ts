import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { OPERATIONS } from '../../src/capabilities/operations.js';
import { startSurfaces, type Surfaces } from './surface-harness.js';

const CLUSTER = {
  clusterId: '10581234567890123456',
  displayName: 'orders',
  state: 'ACTIVE',
  createdBy: 'someone@example.com',
  region: { name: 'regions/aws-us-west-2', cloudProvider: 'aws' },
};

let surfaces: Surfaces;
beforeEach(async () => {
  surfaces = await startSurfaces();
});
afterEach(() => surfaces.close());

describe.each(['legacy', 'auto'] as const)('An MCP client (%s negotiation)', (era) => {
  it('lists the tools in the order of the operations, always the same', async () => {
    const client = await surfaces.connect(era);
    const first = await client.listTools();
    expect(first.tools.map(({ name }) => name)).toEqual(OPERATIONS.map(({ name }) => `tidb_${name}`));
    const second = await client.listTools({}, { cacheMode: 'bypass' });
    expect(second.tools).toEqual(first.tools);
    await client.close();
  });

  it('reads how limits behave from the instructions', async () => {
    const client = await surfaces.connect(era);
    expect(client.getInstructions()).toMatch(/Stop retrying with this key/);
    expect(client.getServerVersion()?.name).toBe('tidb-cloud-mcp');
    await client.close();
  });

  it('gets a result as structured content and as the same text', async () => {
    surfaces.tidbCloud.answer = () => ({ kind: 'ok', value: { clusters: [CLUSTER], nextPageToken: 'next' } });
    const client = await surfaces.connect(era);
    await client.listTools();
    const result = await client.callTool({ name: 'tidb_list_clusters', arguments: { pageSize: 1 } });
    expect(result.structuredContent).toEqual({
      items: [
        {
          clusterId: CLUSTER.clusterId,
          displayName: 'orders',
          state: 'ACTIVE',
          region: 'regions/aws-us-west-2',
          cloudProvider: 'aws',
        },
      ],
      nextPageToken: 'next',
    });
    expect(JSON.parse((result.content[0] as { text: string }).text)).toEqual(result.structuredContent);
    expect(surfaces.admitted).toEqual(['mcp']);
    await client.close();
  });

  it('is told which arguments are wrong and what is allowed, and nothing is asked upstream', async () => {
    const client = await surfaces.connect(era);
    await client.listTools();
    const result = await client.callTool({
      name: 'tidb_list_branches',
      arguments: { clusterId: '../x', pageSize: 500, colour: 'red' },
    });
    expect(result.isError).toBe(true);
    expect(result.structuredContent).toMatchObject({
      code: 'INVALID_ARGUMENT',
      errors: [
        { path: 'clusterId', message: expect.stringContaining('1 to 64') as string },
        { path: 'pageSize', message: 'must be at most 100' },
        { path: 'colour', message: 'is not known; allowed: clusterId, pageSize, pageToken' },
      ],
    });
    expect(surfaces.tidbCloud.requests).toEqual([]);
    expect(surfaces.admitted).toEqual([]);
    await client.close();
  });

  it('is told the names of the tools when it calls one that is not there', async () => {
    const client = await surfaces.connect(era);
    await expect(client.callTool({ name: 'tidb_drop_everything', arguments: {} })).rejects.toThrow(
      /There is no tool "tidb_drop_everything". Tools: tidb_capabilities, tidb_list_projects/,
    );
    await client.close();
  });

  it('can tell a limit of TiDB Cloud from one of this server', async () => {
    surfaces.tidbCloud.answer = () => ({ kind: 'rate-limited', retryAfterSeconds: 21 });
    const client = await surfaces.connect(era);
    await client.listTools();
    const result = await client.callTool({ name: 'tidb_list_clusters', arguments: {} });
    expect(result.isError).toBe(true);
    expect(result.structuredContent).toMatchObject({
      limit: 'upstream',
      code: 'UPSTREAM_RATE_LIMITED',
      retryAfterSeconds: 21,
    });
    expect((result.content[0] as { text: string }).text).toContain('Retry in 21s');
    await client.close();
  });
});
