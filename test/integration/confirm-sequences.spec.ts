import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ConfirmClient } from '../support/confirm-client.js';
import { createFile, type ScratchDatabase } from '../support/control-databases.js';
import { startTestServer, type TestServer } from '../support/test-server.js';

const KEYS = [
  { publicKey: 'ONE', privateKey: 'private-half-one' },
  { publicKey: 'TWO', privateKey: 'private-half-two' },
];
const FAULTS = ['none', 'outage', 'reset', 'garbage', 'hang'] as const;
const OPERATIONS = ['create', 'rename', 'delete', 'branch'] as const;

type Step =
  | { kind: 'preflight'; by: number; operation: (typeof OPERATIONS)[number]; cluster: number }
  | { kind: 'confirm'; by: number; token: number; times: number; fault: (typeof FAULTS)[number] }
  | { kind: 'expire'; token: number };

const index = fc.nat({ max: 7 });
/** Mostly the owner, so that sequences get somewhere; the other caller often enough. */
const by = fc.constantFrom(0, 0, 0, 1);
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    kind: fc.constant('preflight' as const),
    by,
    operation: fc.constantFrom(...OPERATIONS),
    cluster: index,
  }),
  fc.record({
    kind: fc.constant('confirm' as const),
    by,
    token: index,
    times: fc.integer({ min: 1, max: 3 }),
    fault: fc.constantFrom(...FAULTS),
  }),
  fc.record({ kind: fc.constant('expire' as const), token: index }),
);

/** What the test knows of one confirmation. */
interface Issued {
  readonly token: string;
  readonly owner: number;
  readonly request: string;
  expired: boolean;
  ended: string | undefined;
  performed: number;
}

let server: TestServer;
let database: ScratchDatabase;
let callers: ConfirmClient[];

beforeAll(async () => {
  database = await createFile();
  const env = {
    TIDB_MCP_TENANT_RPS: '100000',
    TIDB_MCP_TENANT_BURST: '100000',
    TIDB_MCP_GLOBAL_RPS: '100000',
    TIDB_MCP_GLOBAL_BURST: '100000',
    TIDB_MCP_DAILY_QUOTA: '1000000',
    TIDB_MCP_UPSTREAM_TIMEOUT_MS: '150',
    TIDB_MCP_CONTROL_DB_URL: database.url,
  };
  server = await startTestServer(env, { keys: KEYS, provisioningSeconds: 0 });
  callers = KEYS.map(({ publicKey, privateKey }) => new ConfirmClient(server.url, `${publicKey}:${privateKey}`));
});
afterAll(async () => {
  await server.stop();
  await database.drop();
});

function calm(): void {
  Object.assign(server.sandbox, { outage: false, reset: false, garbage: false, hang: false });
}

/** Requests that carried a credential and could have changed something, since the log was last emptied. */
function performing(): string[] {
  return server.sandbox.requests
    .filter(({ method, scheme, status }) => method !== 'GET' && scheme === 'digest' && status !== 401)
    .map(({ method, path, publicKey }) => `${publicKey ?? 'nobody'} ${method} ${path}`);
}

async function preflight(by: number, operation: string, nth: number): Promise<Issued | undefined> {
  const caller = callers[by]!;
  const clusterId = await caller.cluster(nth);
  const displayName = `made-${nth}-by-${by}`;
  const [name, args, request] = {
    create: ['create_cluster', { displayName, region: { name: 'regions/aws-us-east-1' } }, 'POST /v1beta1/clusters'],
    rename: ['update_cluster', { clusterId, displayName }, `PATCH /v1beta1/clusters/${clusterId}`],
    delete: ['delete_cluster', { clusterId }, `DELETE /v1beta1/clusters/${clusterId}`],
    branch: ['create_branch', { clusterId, displayName }, `POST /v1beta1/clusters/${clusterId}/branches`],
  }[operation] as [string, object, string];
  server.sandbox.requests.length = 0;
  const answer = await caller.preflight(name, args);
  expect(performing()).toEqual([]);
  if (answer.status !== 200) return undefined;
  const token = answer.json<{ confirmationToken: string }>().confirmationToken;
  return { token, owner: by, request, expired: false, ended: undefined, performed: 0 };
}

/** Meets the performing request, and it alone, with a fault. */
function faultWhenSent(fault: (typeof FAULTS)[number]): () => void {
  const { requests } = server.sandbox;
  const original = requests.push.bind(requests);
  requests.push = (...logged) => {
    const [first] = logged;
    if (fault !== 'none' && first?.method !== 'GET' && first?.scheme === 'digest') server.sandbox[fault] = true;
    return original(...logged);
  };
  return () => {
    requests.push = original;
    calm();
  };
}

async function confirm(
  issued: Issued,
  { by, times, fault }: { by: number; times: number; fault: (typeof FAULTS)[number] },
) {
  server.sandbox.requests.length = 0;
  const restore = faultWhenSent(fault);
  const answers = await Promise.all(Array.from({ length: times }, () => callers[by]!.confirm(issued.token)));
  restore();
  const words = answers.map((answer) => answer.json<{ code?: string; outcome?: string }>());
  const sent = performing();
  issued.performed += sent.length;
  expect(issued.performed, 'a confirmation is performed once at the most').toBeLessThanOrEqual(1);
  const valid = by === issued.owner && !issued.expired && issued.ended === undefined;
  if (!valid) expect(sent, 'nothing runs without its own valid token').toEqual([]);
  const request = `${KEYS[issued.owner]!.publicKey} ${issued.request}`;
  for (const one of sent) expect([request, `nobody ${issued.request}`]).toContain(one);
  if (by !== issued.owner) expect(new Set(words.map(({ code }) => code))).toEqual(new Set(['CONFIRM_UNKNOWN']));
  else if (issued.ended !== undefined) {
    for (const word of words) expect(word).toMatchObject({ code: 'CONFIRM_USED', outcome: issued.ended });
  } else if (issued.expired) expect(new Set(words.map(({ code }) => code))).toEqual(new Set(['CONFIRM_EXPIRED']));
  const ended = words.filter(({ code }) => code === undefined);
  expect(ended.length, 'one answer at the most is the outcome').toBeLessThanOrEqual(1);
  issued.ended ??= ended[0]?.outcome;
}

describe('Whatever is preflighted, confirmed, replayed, left to expire and interrupted', () => {
  it('runs no operation without its own valid token, and none twice', { timeout: 240_000 }, async () => {
    const sequences = fc.array(step, { minLength: 1, maxLength: 20, size: 'max' });
    let ended = 0;
    await fc.assert(
      fc.asyncProperty(sequences, async (steps) => {
        const issued: Issued[] = [];
        calm();
        for (const one of steps) {
          if (one.kind === 'preflight') {
            const made = await preflight(one.by, one.operation, one.cluster);
            if (made !== undefined) issued.push(made);
            continue;
          }
          const target = issued[one.token % Math.max(1, issued.length)];
          if (target === undefined) continue;
          if (one.kind === 'expire') {
            await database.query(`UPDATE confirm_nonce SET expires_at = 1 WHERE consumed_at = 0`);
            for (const each of issued) each.expired ||= each.ended === undefined;
          } else await confirm(target, one);
        }
        ended += issued.filter((each) => each.ended !== undefined).length;
      }),
      { numRuns: 60, endOnFailure: true },
    );
    expect(ended, 'the sequences reach what they are about').toBeGreaterThan(10);
  });
});
