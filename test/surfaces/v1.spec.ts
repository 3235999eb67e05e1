import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { confirmOperation } from '../../src/capabilities/operations/confirm.operation.js';
import { OPERATIONS } from '../../src/capabilities/operations.js';
import { DESCRIPTION, startSurfaces, type Surfaces } from './surface-harness.js';

let surfaces: Surfaces;
beforeAll(async () => {
  surfaces = await startSurfaces();
});
afterAll(() => surfaces.close());
beforeEach(() => {
  surfaces.tidbCloud.requests.length = 0;
  surfaces.forgotten.length = 0;
  surfaces.admitted.length = 0;
  surfaces.events.length = 0;
  surfaces.kind = 'api-key';
  surfaces.describe = () => DESCRIPTION;
  surfaces.tidbCloud.answer = () => ({ kind: 'ok', value: {} });
});

const get = (path: string) => fetch(`${surfaces.url}${path}`);
const post = (path: string, body: unknown) =>
  fetch(`${surfaces.url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
const problemOf = async (response: Response) => (await response.json()) as Record<string, unknown>;

describe('GET /v1', () => {
  it('says which limits are in force', async () => {
    const response = await get('/v1/capabilities');
    expect(response.status).toBe(200);
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(await response.json()).toEqual(DESCRIPTION);
    expect(surfaces.tidbCloud.requests).toEqual([]);
    expect(surfaces.events).toEqual([{ event: 'tool_called', operation: 'capabilities', outcome: 'ok', ms: 0 }]);
    expect(surfaces.admitted).toEqual(['v1']);
  });

  it('tells of a confirmation that was not performed by its outcome, though the answer is a 200', async () => {
    const confirm = vi.spyOn(surfaces.confirmations, 'confirm');
    confirm.mockResolvedValueOnce({ ...confirmOperation.example.output, outcome: 'unknown' });
    expect((await post('/v1/confirm', { confirmationToken: 'token' })).status).toBe(200);
    expect(surfaces.events).toEqual([{ event: 'tool_called', operation: 'confirm', outcome: 'unknown', ms: 0 }]);
  });

  it('tells a fault of its own once, where the answer would have come at once', async () => {
    surfaces.describe = () => {
      throw new Error('a fault');
    };
    const response = await get('/v1/capabilities');
    expect([response.status, (await problemOf(response))['code']]).toEqual([500, 'INTERNAL']);
    expect(surfaces.events).toEqual([{ event: 'tool_called', operation: 'capabilities', outcome: 'INTERNAL', ms: 0 }]);
  });

  it.each([
    ['/v1/projects', 'iam', ['projects'], { pageSize: 20 }],
    ['/v1/regions?cloudProvider=aws&servicePlan=Starter', 'serverless', ['regions'], { cloudProvider: 'aws' }],
    ['/v1/clusters?pageSize=5&pageToken=a%20b', 'serverless', ['clusters'], { pageSize: 5, pageToken: 'a b' }],
    ['/v1/clusters?filter=state%3D%22ACTIVE%22', 'serverless', ['clusters'], { filter: 'state="ACTIVE"' }],
    ['/v1/clusters/12/branches?pageSize=7', 'serverless', ['clusters', '12', 'branches'], { pageSize: 7 }],
    ['/v1/backups?clusterId=12', 'serverless', ['backups'], { clusterId: '12', pageSize: 20 }],
  ])('asks TiDB Cloud for %s', async (path, host, segments, query) => {
    const response = await get(path);
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual({ items: [] });
    expect(surfaces.tidbCloud.requests).toMatchObject([{ host, method: 'GET', path: segments, query }]);
    expect(surfaces.admitted).toEqual(['v1']);
  });

  it('answers one cluster without the address of whoever made it', async () => {
    const value = {
      clusterId: '12',
      createdBy: 'a@example.com',
      displayName: 'of b@example.com',
      labels: { owner: 'c@d.e' },
    };
    surfaces.tidbCloud.answer = () => ({ kind: 'ok', value });
    const text = await (await get('/v1/clusters/12')).text();
    expect(JSON.parse(text)).toEqual({
      clusterId: '12',
      displayName: 'of [e-mail withheld]',
      labels: { owner: '[e-mail withheld]' },
    });
  });

  it.each([
    ['/v1/clusters?pageSize=0', [{ path: 'pageSize', message: 'must be at least 1' }]],
    ['/v1/clusters?pageSize=101', [{ path: 'pageSize', message: 'must be at most 100' }]],
    ['/v1/clusters?pageSize=1e1', [{ path: 'pageSize', message: 'must be a whole number from 1 to 100' }]],
    ['/v1/clusters?pageSize=', [{ path: 'pageSize', message: 'must be a whole number from 1 to 100' }]],
    ['/v1/clusters?pageSize=1&pageSize=2', [{ path: 'pageSize', message: 'must be given once' }]],
    ['/v1/clusters?colour=red', [{ path: 'colour', message: 'is not known; allowed: pageSize, pageToken, filter' }]],
    ['/v1/clusters/1?clusterId=2', [{ path: 'clusterId', message: 'is not known; nothing is allowed here' }]],
    ['/v1/clusters?pageToken=%C3%A9', [{ path: 'pageToken' }]],
    ['/v1/clusters/a%2Fb', [{ path: 'clusterId' }]],
    ['/v1/clusters/..%2F..', [{ path: 'clusterId' }]],
    ['/v1/backups', [{ path: 'clusterId', message: 'is required' }]],
    [
      '/v1/regions?cloudProvider=mars',
      [{ path: 'cloudProvider', message: 'must be one of aws, gcp, azure, alicloud' }],
    ],
  ])('refuses %s and names the mistake', async (path, errors) => {
    const response = await get(path);
    expect(response.status).toBe(400);
    expect(response.headers.get('content-type')).toContain('application/problem+json');
    expect(await problemOf(response)).toMatchObject({ code: 'INVALID_ARGUMENT', status: 400, errors });
    expect(surfaces.tidbCloud.requests).toEqual([]);
  });

  it.each([
    ['an id', 64, (text: string) => `/v1/clusters/${text}/branches`],
    ['a page token', 2048, (text: string) => `/v1/clusters?pageToken=${text}`],
  ])('takes %s of up to %i characters', async (_what, most, path) => {
    expect((await get(path('a'.repeat(most)))).status).toBe(200);
    expect((await get(path('a'.repeat(most + 1)))).status).toBe(400);
  });

  it('takes an empty page token as the first page', async () => {
    expect((await get('/v1/clusters?pageToken=')).status).toBe(200);
    expect(surfaces.tidbCloud.requests[0]?.query?.['pageToken']).toBeUndefined();
  });

  it.each([
    [{ kind: 'rejected' }, 401, 'UNAUTHENTICATED'],
    [{ kind: 'forbidden', message: 'No.' }, 403, 'FORBIDDEN'],
    [{ kind: 'not-found' }, 404, 'NOT_FOUND'],
    [{ kind: 'invalid', message: 'No.' }, 400, 'INVALID_ARGUMENT'],
    [{ kind: 'rate-limited', retryAfterSeconds: 9 }, 429, 'UPSTREAM_RATE_LIMITED'],
    [{ kind: 'unavailable', reason: 'timeout', sent: true }, 503, 'UPSTREAM_UNAVAILABLE'],
    [{ kind: 'unavailable', reason: 'connection', sent: false }, 503, 'UPSTREAM_UNAVAILABLE'],
    [{ kind: 'unavailable', reason: 'body', sent: true }, 502, 'UPSTREAM_ERROR'],
    [{ kind: 'ok', value: 'not an object' }, 502, 'UPSTREAM_ERROR'],
    [{ kind: 'ok', value: { displayName: 'no id' } }, 502, 'UPSTREAM_ERROR'],
  ] as const)('turns %o of TiDB Cloud into %i %s', async (outcome, status, code) => {
    surfaces.tidbCloud.answer = () => outcome;
    const response = await get('/v1/clusters/12');
    expect(response.status).toBe(status);
    expect(await problemOf(response)).toMatchObject({ code, status });
    expect(surfaces.events).toEqual([{ event: 'tool_called', operation: 'get_cluster', outcome: code, ms: 0 }]);
    expect(surfaces.forgotten).toHaveLength(status === 401 ? 1 : 0);
  });

  it('blames the server’s own key under a shared token and forgets no caller', async () => {
    surfaces.kind = 'shared';
    surfaces.tidbCloud.answer = () => ({ kind: 'rejected' });
    const response = await get('/v1/projects');
    expect(response.status).toBe(502);
    expect(await problemOf(response)).toMatchObject({ code: 'SERVER_KEY_REJECTED' });
    expect(surfaces.forgotten).toEqual([]);
  });
});

describe('Every surface', () => {
  it.each(OPERATIONS)('answers the same data for $name', async (operation) => {
    surfaces.tidbCloud.answer = ({ path }) => ({ kind: 'ok', value: UPSTREAM[path.join('/')] });
    const { route, example, name } = operation;
    const input = example.input as Record<string, string>;
    const rest = { ...input };
    const path = route.path.replace(/:(\w+)/g, (_match, key: string) => {
      delete rest[key];
      return input[key] ?? '';
    });
    const query = new URLSearchParams(rest).toString();
    const response = route.method === 'POST' ? await post(`/v1${path}`, input) : await get(`/v1${path}?${query}`);
    const restAnswer = (await response.json()) as unknown;
    for (const era of ['legacy', 'auto'] as const) {
      const client = await surfaces.connect(era);
      const { structuredContent } = await client.callTool({ name: `tidb_${name}`, arguments: example.input });
      expect(structuredContent, era).toEqual(restAnswer);
      await client.close();
    }
    expect(operation.output.strict().safeParse(restAnswer).success).toBe(true);
    expect(restAnswer).toEqual(example.output);
  });
});

const CLUSTER = {
  name: 'clusters/10581234567890123456',
  clusterId: '10581234567890123456',
  displayName: 'orders',
  region: { name: 'regions/aws-us-west-2', regionId: 'aws-us-west-2', cloudProvider: 'aws' },
  spendingLimit: { monthly: 1000 },
  automatedBackupPolicy: { startTime: '07:00', retentionDays: 14 },
  endpoints: { public: { host: 'gateway01.us-west-2.prod.aws.tidbcloud.com', port: 4000, disabled: false } },
  version: 'v8.5.2',
  createdBy: 'someone@example.com',
  userPrefix: '2vQ8tYkLm3nPqRs',
  state: 'ACTIVE',
  labels: { 'tidb.cloud/project': '1372813089454525346' },
  annotations: { 'tidb.cloud/has-set-password': 'false' },
  createTime: '2026-03-01T08:30:00Z',
  updateTime: '2026-03-02T10:00:00Z',
  clusterPlan: 'STARTER',
};

const BRANCH = {
  branchId: 'bran-d4k7m2p9q1',
  clusterId: '10581234567890123456',
  displayName: 'migration-test',
  state: 'ACTIVE',
  parentId: '10581234567890123456',
  parentDisplayName: 'orders',
  createdBy: 'someone@example.com',
  createTime: '2026-04-01T12:00:00Z',
  updateTime: '2026-04-01T12:05:00Z',
  parentTimestamp: '2026-04-01T11:59:00Z',
  endpoints: { public: { host: 'gateway01.us-west-2.prod.aws.tidbcloud.com', port: 4000, disabled: false } },
  userPrefix: '3aB9cDeFgHjKmNp',
};

/** TiDB Cloud's answers behind the examples of the operations. */
const UPSTREAM: Record<string, unknown> = {
  projects: {
    projects: [
      {
        id: '1372813089454525346',
        name: 'Shop',
        org_id: '1372813089187041280',
        cluster_count: 2,
        create_timestamp: '1772353800',
        user_count: 3,
      },
    ],
  },
  regions: {
    regions: [
      {
        name: 'regions/aws-us-west-2',
        regionId: 'aws-us-west-2',
        displayName: 'Oregon (us-west-2)',
        cloudProvider: 'aws',
        servicePlans: ['Starter', 'Essential'],
      },
    ],
  },
  clusters: { clusters: [CLUSTER], nextPageToken: 'CAEQFA', totalSize: '21' },
  'clusters/10581234567890123456': CLUSTER,
  'clusters/10581234567890123456/branches': { branches: [BRANCH], nextPageToken: '' },
  'clusters/10581234567890123456/branches/bran-d4k7m2p9q1': BRANCH,
  backups: {
    backups: [
      {
        name: 'backups/2018945',
        backupId: '2018945',
        clusterId: '10581234567890123456',
        createTime: '2026-04-02T07:00:00Z',
      },
    ],
  },
};
