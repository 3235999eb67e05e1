import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestServer, type TestServer } from '../support/test-server.js';
import { type CredentialProxy, startCredentialProxy } from './credential-proxy.js';
import { NOT_APPLICABLE } from './not-applicable.js';
import { type Check, runSuite, SUITE } from './suite.js';

/** The suite asks as fast as it can, which is not what is under test here; the clock of the test stands still. */
const ROOMY = Object.fromEntries(
  ['PREAUTH', 'TENANT', 'GLOBAL'].map((layer) => [`TIDB_MCP_${layer}_BURST`, '10000'] as const),
);

/** What applies to any server that has tools, so that nobody can list everything as not applicable. */
const AT_LEAST = {
  '2025-06-18': ['server-initialize', 'ping', 'tools-list'],
  '2025-11-25': ['server-initialize', 'ping', 'tools-list', 'dns-rebinding-protection'],
  '2026-07-28': ['server-stateless', 'tools-list', 'dns-rebinding-protection', 'caching', 'http-header-validation'],
};
const revisions = Object.entries(AT_LEAST);
const LISTED = new Set(NOT_APPLICABLE.flatMap(({ checks }) => checks));

const note = SUITE === undefined ? ' (skipped: set TEST_CONFORMANCE to the folder it is installed in)' : '';
describe.skipIf(SUITE === undefined)(`The official conformance suite${note}`, () => {
  let server: TestServer;
  let proxy: CredentialProxy;
  const found = new Map<string, Check[]>();
  beforeAll(async () => {
    server = await startTestServer(ROOMY);
    proxy = await startCredentialProxy(server.port, `${server.sandbox.publicKey}:${server.sandbox.privateKey}`);
    for (const [revision] of revisions) found.set(revision, await runSuite(SUITE!, `${proxy.url}/mcp`, revision));
  }, 300_000);
  afterAll(async () => {
    await proxy?.close();
    await server?.stop();
  });

  it.each(revisions)('finds nothing wrong with MCP %s beside what does not apply', (revision) => {
    const failures = found.get(revision)!.filter(({ status }) => status === 'FAILURE');
    expect(failures.filter((check) => listedAs(check) === undefined)).toEqual([]);
  });

  it.each(revisions)('passes of MCP %s whatever applies to a server that has tools', (revision, scenarios) => {
    for (const scenario of scenarios) {
      const checks = found.get(revision)!.filter((check) => check.scenario === scenario);
      expect(checks.filter(({ status, id }) => status === 'SUCCESS' && id !== WIRE).length, scenario).toBeGreaterThan(
        0,
      );
    }
  });

  it('has no exception that is not needed', () => {
    const failures = [...found.values()].flat().filter(({ status }) => status === 'FAILURE');
    const needed = new Set(failures.map(listedAs));
    expect([...LISTED].filter((name) => !needed.has(name))).toEqual([]);
  });
});

/** Held against the revision's own schema, message by message; no exception covers it. */
const WIRE = 'wire-schema-valid';

/** The exception that covers a check. */
function listedAs({ scenario, id }: Check): string | undefined {
  if (id === WIRE) return undefined;
  return [scenario, `${scenario}: ${id}`].find((name) => LISTED.has(name));
}
