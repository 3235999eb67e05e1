import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { DESTRUCTIVE_OPERATIONS } from '../../src/capabilities/destructive-operations.js';
import { ConfirmClient } from '../support/confirm-client.js';
import { createFile, type ScratchDatabase } from '../support/control-databases.js';
import { type Answer, ask, callTool, rpc, startTestServer, type TestServer } from '../support/test-server.js';

const PASSWORD = 'Str0ng-enough-a-password';
const OTHER = { publicKey: 'OTHER', privateKey: 'other-private-half' };
const FIRST = { publicKey: 'FIRST', privateKey: 'first-private-half' };

let server: TestServer;
let database: ScratchDatabase;
let caller: ConfirmClient;
let stranger: ConfirmClient;

beforeAll(async () => {
  database = await createFile();
  server = await startTestServer(
    { TIDB_MCP_TENANT_RPS: '1000', TIDB_MCP_TENANT_BURST: '1000', TIDB_MCP_CONTROL_DB_URL: database.url },
    { keys: [FIRST, OTHER], provisioningSeconds: 60 },
  );
  caller = new ConfirmClient(server.url, `${FIRST.publicKey}:${FIRST.privateKey}`);
  stranger = new ConfirmClient(server.url, `${OTHER.publicKey}:${OTHER.privateKey}`);
});
afterAll(async () => {
  await server.stop();
  await database.drop();
});
beforeEach(() => {
  server.sandbox.hang = false;
  server.sandbox.outage = false;
  server.sandbox.requests.length = 0;
  server.clock.advance(60_000);
});

/** What has reached TiDB Cloud and could have changed something there. */
const performing = () =>
  server.sandbox.requests
    .filter(({ method, status }) => method !== 'GET' && status !== 401)
    .map(({ method, path }) => `${method} ${path}`);
const codeOf = (answer: Answer) => answer.json<{ code?: string }>().code;

async function argumentsOf(): Promise<Record<string, [string, Record<string, unknown>]>> {
  const [clusterId, victim] = [await caller.cluster(0), await caller.cluster(5)];
  const branches = (await caller.get(`/v1/clusters/${clusterId}/branches`)).json<{ items: { branchId: string }[] }>();
  const [reset, removed] = branches.items.map(({ branchId }) => branchId);
  const backups = (await caller.get(`/v1/backups?clusterId=${clusterId}`)).json<{ items: { backupId: string }[] }>();
  const [source, gone] = backups.items.map(({ backupId }) => backupId);
  const create = { displayName: 'made-by-test', region: { name: 'regions/aws-us-east-1' }, rootPassword: PASSWORD };
  return {
    create_cluster: ['POST /v1beta1/clusters', { ...create, spendingLimit: { monthly: 500 } }],
    update_cluster: [
      `PATCH /v1beta1/clusters/${clusterId}`,
      {
        clusterId,
        displayName: 'renamed-by-test',
        labels: { team: 'shop' },
        endpoints: {
          public: {
            authorizedNetworks: [{ startIpAddress: '10.0.0.1', endIpAddress: '10.0.0.9', displayName: 'office' }],
          },
        },
      },
    ],
    delete_cluster: [`DELETE /v1beta1/clusters/${victim}`, { clusterId: victim }],
    create_branch: [
      `POST /v1beta1/clusters/${clusterId}/branches`,
      { clusterId, displayName: 'a branch of a test', rootPassword: PASSWORD },
    ],
    reset_branch: [`POST /v1beta1/clusters/${clusterId}/branches/${reset}:reset`, { clusterId, branchId: reset }],
    delete_branch: [`DELETE /v1beta1/clusters/${clusterId}/branches/${removed}`, { clusterId, branchId: removed }],
    restore_cluster: ['POST /v1beta1/clusters:restore', { snapshot: { backupId: source } }],
    delete_backup: [`DELETE /v1beta1/backups/${gone}`, { backupId: gone }],
  };
}

describe('An operation that changes something', () => {
  it.each(DESTRUCTIVE_OPERATIONS)(
    'takes a preflight, which changes nothing, and a confirm: $name',
    async ({ name }) => {
      const [request, args] = (await argumentsOf())[name]!;
      const preflight = await caller.preflight(name, args);
      expect(preflight.text).toContain('"summary":"');
      const shown = preflight.json<{
        confirmationToken: string;
        expiresAt: string;
        effects: { irreversible: string[] };
      }>();
      expect(shown.confirmationToken).toMatch(/^[\w-]{43}$/);
      expect(Math.abs(Date.parse(shown.expiresAt) - Date.now() - 300_000)).toBeLessThan(10_000);
      expect(performing()).toEqual([]);
      const confirmed = await caller.confirm(shown.confirmationToken);
      expect([confirmed.status, confirmed.json()]).toMatchObject([200, { outcome: 'done', operation: name }]);
      expect(performing()).toEqual([request]);
      const again = await caller.confirm(shown.confirmationToken);
      expect(again.status).toBe(409);
      const { result } = confirmed.json<{ result: object }>();
      expect(again.json()).toMatchObject({ code: 'CONFIRM_USED', outcome: 'done', operation: name, result });
      expect(performing()).toEqual([request]);
      const rows = JSON.stringify(await database.query('SELECT * FROM confirm_nonce'));
      for (const text of [preflight.text, confirmed.text, again.text, rows]) expect(text).not.toContain(PASSWORD);
      expect(rows).not.toContain(shown.confirmationToken);
      expect(rows).not.toContain(String(Object.values(args)[0]));
    },
  );

  it('says what will happen: name, id, region, plan, age, what goes with it, what cannot be undone', async () => {
    const clusterId = await caller.cluster(0);
    const answer = await caller.preflight('delete_cluster', { clusterId });
    const { summary, effects } = answer.json<{ summary: string; effects: Record<string, unknown> }>();
    expect(summary).toMatch(/Delete the cluster ".+" \[\d+\] \(\w+, regions\/aws-[\w-]+, ACTIVE, \d+ days? old\)/);
    expect(summary).toMatch(/with all its data, \d+ branches and \d+ backups\. This cannot be undone\./);
    expect(effects).toMatchObject({
      target: { kind: 'cluster', id: clusterId, ageDays: expect.any(Number) as number },
      deletes: { branches: { count: expect.any(Number) as number }, backups: { count: expect.any(Number) as number } },
      irreversible: ['All data of the cluster.', expect.any(String), expect.any(String)],
    });
  });

  it('says what it costs, as far as that is known, and whether there is one of that name already', async () => {
    const args = { displayName: 'orders-staging', region: { name: 'regions/aws-us-east-1' } };
    const priced = await caller.preflight('create_cluster', { ...args, spendingLimit: { monthly: 1234 } });
    expect(priced.json()).toMatchObject({
      summary: expect.stringContaining('already 1 cluster of this name. At most US$12.34 a month') as string,
      effects: { cost: { spendingLimitMonthlyCents: 1234 } },
    });
    expect((await caller.preflight('create_cluster', args)).text).toContain('free quota');
  });

  it('keeps the labels that TiDB Cloud itself works with when others are set', async () => {
    const clusterId = await caller.cluster(3);
    const before = (await caller.get(`/v1/clusters/${clusterId}`)).json<{ projectId: string }>();
    await caller.confirm(await caller.token('update_cluster', { clusterId, labels: { team: 'crm' } }));
    const after = (await caller.get(`/v1/clusters/${clusterId}`)).json();
    expect(after).toMatchObject({ projectId: before.projectId, labels: { team: 'crm' } });
  });

  it.each([
    ['delete_cluster', {}, 'arguments.clusterId', 'is required'],
    ['delete_cluster', { clusterId: '../x' }, 'arguments.clusterId', 'must be 1 to 64 letters'],
    ['delete_cluster', { clusterId: '1', force: true }, 'arguments.force', 'is not known; allowed: clusterId'],
    ['create_cluster', { displayName: 'no', region: { name: 'regions/aws-us-east-1' } }, 'arguments.displayName', ''],
    ['create_cluster', { displayName: 'name', region: { name: 'mars' } }, 'arguments.region.name', ''],
    [
      'create_cluster',
      { displayName: 'name', region: { name: 'regions/aws-mars-1' } },
      'arguments.region.name',
      'none of',
    ],
    ['update_cluster', { clusterId: '1' }, 'arguments', 'something to change'],
    [
      'update_cluster',
      { clusterId: '1', spendingLimit: { monthly: -1 } },
      'arguments.spendingLimit.monthly',
      'at least 0',
    ],
    [
      'update_cluster',
      { clusterId: '1', endpoints: { public: { disabled: true } } },
      'arguments.endpoints.public.disabled',
      'allowed: authorizedNetworks',
    ],
    ['restore_cluster', {}, 'arguments', 'one of snapshot and pointInTime'],
    [
      'create_branch',
      { clusterId: '1', displayName: 'x', parentTimestamp: 'now' },
      'arguments.parentTimestamp',
      'a time',
    ],
    ['drop_everything', {}, 'operation', 'must be one of create_cluster, '],
  ])('is refused with the mistake by its name: %s %j', async (operation, args, path, message) => {
    const answer = await caller.preflight(operation, args);
    expect(answer.status).toBe(400);
    const { errors } = answer.json<{ errors: { path: string; message: string }[] }>();
    expect(errors.find((error) => error.path === path)?.message).toContain(message);
  });

  it('is refused where its target is not there', async () => {
    expect((await caller.preflight('delete_cluster', { clusterId: '404' })).status).toBe(404);
    const clusterId = await caller.cluster(0);
    const future = { clusterId, backupTime: '2999-01-01T00:00:00Z' };
    expect((await caller.preflight('restore_cluster', { pointInTime: future })).text).toContain('lies in the future');
  });
});

describe('A confirm', () => {
  it.each(['', 'x', 'A'.repeat(43), 'A'.repeat(256)])('of a token that never was is unknown: %s', async (token) => {
    const answer = await caller.confirm(token);
    expect([answer.status, codeOf(answer)]).toEqual(
      token === '' ? [400, 'INVALID_ARGUMENT'] : [404, 'CONFIRM_UNKNOWN'],
    );
  });

  it('of another caller is unknown too, whatever state the confirmation is in, and consumes nothing', async () => {
    const token = await caller.token('delete_cluster', { clusterId: await caller.cluster(6) });
    const unknown = await stranger.confirm('A'.repeat(43));
    const foreign = await stranger.confirm(token);
    expect(foreign.text).toBe(unknown.text);
    expect((await caller.confirm(token)).json()).toMatchObject({ outcome: 'done' });
    expect((await stranger.confirm(token)).text).toBe(unknown.text);
  });

  it('goes by the credential and not by its spelling or its surface', async () => {
    const token = await caller.token('delete_cluster', { clusterId: await caller.cluster(7) });
    const basic = Buffer.from(`${FIRST.publicKey}:${FIRST.privateKey}`).toString('base64');
    const call = callTool('tidb_confirm', { confirmationToken: token });
    const answer = await ask(`${server.url}/mcp`, rpc(call, undefined, { authorization: `Basic ${basic}` }));
    expect(answer.text).toContain('"outcome":"done"');
  });

  it('that has expired performs nothing', async () => {
    const token = await caller.token('delete_cluster', { clusterId: await caller.cluster(8) });
    await database.query('UPDATE confirm_nonce SET expires_at = 1 WHERE consumed_at = 0');
    const answer = await caller.confirm(token);
    expect([answer.status, codeOf(answer)]).toEqual([410, 'CONFIRM_EXPIRED']);
    expect(performing()).toEqual([]);
  });

  it.each([
    ['its name', { displayName: 'another-name' }],
    ['its limit', { spendingLimit: { monthly: 99 } }],
  ])('of a cluster that changed in between asks for a new preflight: %s', async (_what, change) => {
    const clusterId = await caller.cluster(9);
    const token = await caller.token('delete_cluster', { clusterId });
    await caller.confirm(await caller.token('update_cluster', { clusterId, ...change }));
    server.sandbox.requests.length = 0;
    const answer = await caller.confirm(token);
    expect([answer.status, codeOf(answer)]).toEqual([409, 'CONFIRM_TARGET_CHANGED']);
    expect(performing()).toEqual([]);
  });

  it('of a cluster that has lost a branch meanwhile asks for a new preflight', async () => {
    const clusterId = await caller.cluster(0);
    const token = await caller.token('delete_cluster', { clusterId });
    const listed = await caller.get(`/v1/clusters/${clusterId}/branches`);
    const { items } = listed.json<{ items: { branchId: string; state: string }[] }>();
    const branchId = items.find(({ state }) => state === 'ACTIVE')?.branchId;
    await caller.confirm(await caller.token('delete_branch', { clusterId, branchId }));
    expect(codeOf(await caller.confirm(token))).toBe('CONFIRM_TARGET_CHANGED');
  });

  it('whose row was tampered with performs nothing', async () => {
    const token = await caller.token('delete_cluster', { clusterId: await caller.cluster(10) });
    const other = await caller.token('delete_cluster', { clusterId: await caller.cluster(11) });
    expect(other).not.toBe(token);
    const rows = await database.query('SELECT token_hash, sealed_plan FROM confirm_nonce WHERE consumed_at = 0');
    await database.query(
      `UPDATE confirm_nonce SET sealed_plan = '${String(rows[0]?.['sealed_plan'])}' WHERE consumed_at = 0`,
    );
    const codes = [codeOf(await caller.confirm(token)), codeOf(await caller.confirm(other))];
    expect(codes).toContain('CONFIRM_TARGET_CHANGED');
    expect(performing().length).toBe(codes.filter((code) => code === undefined).length);
  });

  it('that TiDB Cloud refuses says so, is used, and is told as an error to agents', async () => {
    const clusterId = await caller.cluster(12);
    await caller.confirm(await caller.token('delete_cluster', { clusterId }));
    const token = await caller.token('delete_cluster', { clusterId });
    const call = callTool('tidb_confirm', { confirmationToken: token });
    const answer = await ask(`${server.url}/mcp`, rpc(call, `${FIRST.publicKey}:${FIRST.privateKey}`));
    expect(answer.text).toContain('"isError":true');
    expect(answer.text).toContain('"outcome":"refused_upstream"');
    expect((await caller.confirm(token)).json()).toMatchObject({ code: 'CONFIRM_USED', outcome: 'refused_upstream' });
  });
});
