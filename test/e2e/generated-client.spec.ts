import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createClient } from '../generated/client/index.js';
import {
  getBranch,
  getCapabilities,
  getCluster,
  getLiveness,
  listBackups,
  listBranches,
  listClusters,
  listProjects,
  listRegions,
} from '../generated/sdk.gen.js';
import type { Cluster } from '../generated/types.gen.js';
import { startTestServer, type TestServer } from '../support/test-server.js';

let server: TestServer;
const clientOf = (auth?: string) => createClient({ baseUrl: server.url, ...(auth === undefined ? {} : { auth }) });
const client = () => clientOf(`${server.sandbox.publicKey}:${server.sandbox.privateKey}`);

beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.stop());
beforeEach(() => server.clock.advance(60_000));

describe('A client generated from the document', () => {
  it('reads everything there is to read', async () => {
    const options = { client: client() };
    const clusters = (await listClusters({ ...options, query: { pageSize: 100 }, throwOnError: true })).data.items;
    const [first] = clusters;
    const path = { clusterId: first!.clusterId };
    expect((await getCluster({ ...options, path, throwOnError: true })).data).toMatchObject(first!);
    const branches = (await listBranches({ ...options, path, throwOnError: true })).data.items;
    const branch = { ...path, branchId: branches[0]!.branchId };
    expect((await getBranch({ ...options, path: branch, throwOnError: true })).data).toMatchObject(branches[0]!);
    expect((await listBackups({ ...options, query: path, throwOnError: true })).data.items.length).toBeGreaterThan(0);
    expect((await listProjects({ ...options, throwOnError: true })).data.items.length).toBeGreaterThan(0);
    expect((await listRegions({ ...options, throwOnError: true })).data.items.length).toBeGreaterThan(0);
    const { limits } = (await getCapabilities({ ...options, throwOnError: true })).data;
    expect(limits.enforced).toBe(true);
  });

  it('turns the pages of a list until there is none, without a gap or a repetition', async () => {
    const options = { client: client() };
    const whole = (await listClusters({ ...options, query: { pageSize: 100 }, throwOnError: true })).data.items;
    const turned: Cluster[] = [];
    let pageToken: string | undefined;
    do {
      const { data } = await listClusters({ ...options, query: { pageSize: 4, pageToken }, throwOnError: true });
      turned.push(...data.items);
      pageToken = data.nextPageToken;
    } while (pageToken !== undefined);
    expect(turned).toEqual(whole);
    expect(new Set(turned.map(({ clusterId }) => clusterId)).size).toBe(25);
  });

  it('knows each failure by its code', async () => {
    const options = { client: client() };
    const missing = await getCluster({ ...options, path: { clusterId: '404404' } });
    expect([missing.response.status, missing.error?.code]).toEqual([404, 'NOT_FOUND']);
    const wrong = await listClusters({ ...options, query: { pageSize: 101 } });
    expect([wrong.response.status, wrong.error?.code]).toEqual([400, 'INVALID_ARGUMENT']);
    const stranger = await listClusters({ client: clientOf() });
    expect([stranger.response.status, stranger.error?.code]).toEqual([401, 'UNAUTHENTICATED']);
    server.clock.advance(60_000);
    for (let i = 0; i < 20; i += 1) await getCapabilities(options);
    const refused = await listClusters(options);
    expect(refused.error).toMatchObject({ code: 'TENANT_RATE_LIMITED', retryAfterSeconds: 1 });
    expect((await getLiveness(options)).response.status).toBe(200);
  });
});
