import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.adapter.js';
import * as endpoints from '../../src/tidb-cloud/endpoints.js';
import { parseUpstreamError } from '../../src/tidb-cloud/upstream-error.js';
import { parseBase, requestTarget, type UpstreamRequest } from '../../src/tidb-cloud/upstream-request.js';
import { HandClock } from './harness.js';
import { hasReference, loadReference, REFERENCE_NOTE, type ReferenceOperation } from './reference.js';

const PAGE = { pageSize: 2, pageToken: 'token' };
const NEW_CLUSTER = {
  displayName: 'orders-new',
  region: { name: 'regions/aws-us-east-1' },
  labels: { team: 'orders' },
  spendingLimit: { monthly: 1000 },
  automatedBackupPolicy: { startTime: '03:30', retentionDays: 7 },
  highAvailabilityType: 'ZONAL',
  rootPassword: 'a-long-password',
};
const PATCH = { displayName: 'orders-renamed', spendingLimit: { monthly: 2000 }, labels: { team: 'sales' } };

/** Every request that the client can make, with all its parameters. */
const REQUESTS: readonly [string, UpstreamRequest][] = [
  ['listClusters', endpoints.listClusters({ ...PAGE, filter: 'state=ACTIVE' })],
  ['getCluster', endpoints.getCluster('1')],
  ['createCluster', endpoints.createCluster(NEW_CLUSTER)],
  ['updateCluster', endpoints.updateCluster('1', PATCH, 'displayName,spendingLimit,labels')],
  ['deleteCluster', endpoints.deleteCluster('1')],
  ['restoreCluster', endpoints.restoreCluster({ snapshot: { backupId: '1' } })],
  ['listRegions', endpoints.listRegions({ cloudProvider: 'aws', servicePlan: 'Starter' })],
  ['listBranches', endpoints.listBranches('1', PAGE)],
  ['getBranch', endpoints.getBranch('1', '2')],
  ['createBranch', endpoints.createBranch('1', { displayName: 'dev', parentId: '1' })],
  ['resetBranch', endpoints.resetBranch('1', '2')],
  ['deleteBranch', endpoints.deleteBranch('1', '2')],
  ['listBackups', endpoints.listBackups('1', PAGE)],
  ['getBackup', endpoints.getBackup('1')],
  ['deleteBackup', endpoints.deleteBackup('1')],
  ['listProjects', endpoints.listProjects(PAGE)],
];

/** The members that these tests look at, whichever answer has them. */
interface AnyBody {
  readonly clusterId: string;
  readonly branchId: string;
  readonly state: string;
  readonly totalSize: number;
  readonly nextPageToken: string;
  readonly clusters: readonly [{ readonly clusterId: string }, { readonly clusterId: string }];
  readonly backups: readonly [{ readonly backupId: string; readonly createTime: string }];
  readonly projects: readonly unknown[];
  readonly regions: readonly unknown[];
}

describe.skipIf(!hasReference)(`TiDB Cloud's own documents${REFERENCE_NOTE}`, () => {
  let reference: ReferenceOperation[];
  let sandbox: Sandbox;
  let clock: HandClock;

  beforeAll(async () => {
    reference = loadReference();
    clock = new HandClock();
    sandbox = await startSandbox({ clock, rateLimitPerMinute: 1000 });
  });

  afterAll(() => sandbox.close());

  function operationOf(request: UpstreamRequest): ReferenceOperation {
    const target = requestTarget(parseBase('http://x'), request) ?? '';
    const pathname = new URL(target, 'http://x').pathname;
    const found = reference.find((operation) => operation.matches(request.host, request.method, pathname));
    if (found === undefined) throw new Error(`The documents do not have ${request.method} ${pathname}.`);
    return found;
  }

  /** Asks the sandbox and holds its answer against the document. */
  async function ask(
    request: UpstreamRequest,
    of = sandbox,
    token = of.token,
  ): Promise<{ status: number; body: AnyBody }> {
    const base = request.host === 'iam' ? of.iamUrl : of.serverlessUrl;
    const response = await fetch(`${base}${requestTarget(parseBase(base), request)}`, {
      method: request.method,
      headers: { authorization: `Bearer ${token}` },
      ...(request.body === undefined ? {} : { body: JSON.stringify(request.body) }),
    });
    const body = (await response.json()) as AnyBody;
    const gateway = [401, 429].includes(response.status);
    const operation = operationOf(gateway ? endpoints.listClusters({}) : request);
    expect(operation.responseProblems(response.status, body)).toBe('');
    return { status: response.status, body };
  }

  it('know every function that the client calls TiDB Cloud by', () => {
    expect(REQUESTS.map(([name]) => name).sort()).toEqual(Object.keys(endpoints).sort());
  });

  it.each(REQUESTS)('have the request of %s: path, method, parameters, body', (_name, request) => {
    const operation = operationOf(request);
    const query = operation.parameters('query');
    for (const [name, value] of Object.entries(request.query ?? {})) {
      const documented = query.find((parameter) => parameter.name === name);
      expect(documented, name).toBeDefined();
      expect(documented?.type).toBe(typeof value === 'number' ? 'integer' : 'string');
      if (documented?.enum !== undefined) expect(documented.enum).toContain(value);
    }
    for (const { name } of query.filter(({ required }) => required))
      expect(Object.keys(request.query ?? {})).toContain(name);
    expect(operation.bodyProblems(request.body)).toBe('');
  });

  it('have the fields of every list that the sandbox answers, page by page', async () => {
    const { body: clusters } = await ask(endpoints.listClusters({ pageSize: 100 }));
    expect(clusters.clusters).toHaveLength(25);
    const [{ clusterId }] = clusters.clusters;
    for (const list of [
      (page: endpoints.Page) => endpoints.listClusters(page),
      (page: endpoints.Page) => endpoints.listBranches(clusterId, page),
      (page: endpoints.Page) => endpoints.listBackups(clusterId, page),
    ]) {
      const first = await ask(list({ pageSize: 7 }));
      const second = await ask(list({ pageSize: 7, pageToken: first.body.nextPageToken }));
      expect(first.body.totalSize).toBeGreaterThan(7);
      expect(JSON.stringify(second.body)).not.toBe(JSON.stringify(first.body));
    }
    expect((await ask(endpoints.listProjects({ pageSize: 1 }))).body.projects).toHaveLength(1);
    expect((await ask(endpoints.listRegions({ servicePlan: 'Essential' }))).body.regions).toHaveLength(4);
  });

  it('have the fields and states of a cluster from its creation to its end', async () => {
    const { body: created } = await ask(
      endpoints.createCluster({ ...NEW_CLUSTER, autoScaling: { minRcu: 1, maxRcu: 2 } }),
    );
    expect(created).toMatchObject({ state: 'CREATING', servicePlan: 'Essential' });
    const id: string = created.clusterId;
    expect((await ask(endpoints.updateCluster(id, PATCH, 'displayName'))).status).toBe(409);
    clock.advanceSeconds(20);
    expect((await ask(endpoints.getCluster(id))).body.state).toBe('ACTIVE');
    const { body: patched } = await ask(endpoints.updateCluster(id, PATCH, 'displayName,labels'));
    expect(patched).toMatchObject({
      displayName: 'orders-renamed',
      labels: { team: 'sales' },
      spendingLimit: { monthly: 1000 },
    });
    expect((await ask(endpoints.deleteCluster(id))).body.state).toBe('DELETING');
    expect((await ask(endpoints.deleteCluster(id))).status).toBe(409);
    clock.advanceSeconds(20);
    expect((await ask(endpoints.getCluster(id))).status).toBe(404);
  });

  it('have the fields and states of a branch from its creation to its end', async () => {
    const { body: clusters } = await ask(endpoints.listClusters({ pageSize: 2 }));
    const clusterId: string = clusters.clusters[1].clusterId;
    const { body: created } = await ask(endpoints.createBranch(clusterId, { displayName: 'dev' }));
    const id: string = created.branchId;
    expect(created.state).toBe('CREATING');
    expect((await ask(endpoints.resetBranch(clusterId, id))).status).toBe(409);
    clock.advanceSeconds(20);
    expect((await ask(endpoints.getBranch(clusterId, id))).body.state).toBe('ACTIVE');
    expect((await ask(endpoints.resetBranch(clusterId, id))).body.state).toBe('RESTORING');
    clock.advanceSeconds(20);
    expect((await ask(endpoints.deleteBranch(clusterId, id))).body.state).toBe('DELETED');
    clock.advanceSeconds(20);
    expect((await ask(endpoints.getBranch(clusterId, id))).status).toBe(404);
  });

  it('have the fields of a backup, of a restore from it and of one from a moment', async () => {
    const { body: clusters } = await ask(endpoints.listClusters({ pageSize: 1 }));
    const clusterId: string = clusters.clusters[0].clusterId;
    const { body: backups } = await ask(endpoints.listBackups(clusterId, { pageSize: 1 }));
    const { backupId, createTime: backupTime } = backups.backups[0];
    expect((await ask(endpoints.getBackup(backupId))).body.clusterId).toBe(clusterId);
    for (const source of [{ snapshot: { backupId } }, { pointInTime: { clusterId, backupTime } }]) {
      const { body: restored } = await ask(endpoints.restoreCluster(source));
      expect((await ask(endpoints.getCluster(restored.clusterId))).body.state).toBe('RESTORING');
      clock.advanceSeconds(20);
      expect((await ask(endpoints.getCluster(restored.clusterId))).body.state).toBe('ACTIVE');
    }
    await ask(endpoints.deleteBackup(backupId));
    expect((await ask(endpoints.getBackup(backupId))).status).toBe(404);
  });

  it.each<[string, UpstreamRequest, number]>([
    ['a name that is none', endpoints.createCluster({ ...NEW_CLUSTER, displayName: '-' }), 400],
    [
      'a region that is not there',
      endpoints.createCluster({ ...NEW_CLUSTER, region: { name: 'regions/aws-moon' } }),
      400,
    ],
    ['a filter that cannot be read', endpoints.listClusters({ filter: 'state~ACTIVE' }), 400],
    ['a page token of nobody', endpoints.listClusters({ pageToken: 'x' }), 400],
    ['backups of no cluster', endpoints.listBackups('', {}), 400],
    ['a cluster that is not there', endpoints.getCluster('1'), 404],
    ['a branch that is not there', endpoints.getBranch('1', '2'), 404],
    ["a page token of IAM's that is nobody's", endpoints.listProjects({ pageToken: 'x' }), 400],
  ])('have the error for %s, and the client knows it for one', async (_title, request, status) => {
    const answer = await ask(request);
    expect(answer.status).toBe(status);
    expect(parseUpstreamError(answer.body)).toBeDefined();
  });

  it('have the errors that a key gets as such: unknown, forbidden, over its limit', async () => {
    const limited = await startSandbox({ clock, rateLimitPerMinute: 2 });
    const list = endpoints.listClusters({});
    try {
      expect(await ask(list, limited, 'nobody')).toMatchObject({ status: 401, body: { code: 49900001 } });
      limited.forbidKey(limited.publicKey);
      for (const request of [list, endpoints.listProjects({})]) {
        const answer = await ask(request, limited);
        expect(answer.status).toBe(403);
        expect(parseUpstreamError(answer.body)).toBeDefined();
      }
      expect(await ask(list, limited)).toMatchObject({ status: 429, body: { code: 49900007 } });
    } finally {
      await limited.close();
    }
  });
});
