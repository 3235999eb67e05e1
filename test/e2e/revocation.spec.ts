import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ask, bearer, startTestServer, type TestServer } from '../support/test-server.js';
import { waitUntil } from '../support/wait-until.js';

const AGE_SECONDS = 60;
/** A revalidation is due this long after the last one at the latest: a quarter of the age is its spread. */
const DUE_MS = AGE_SECONDS * 1250;

let server: TestServer;
const start = (upstreamTimeoutMs = 1_500): Promise<TestServer> =>
  startTestServer({
    TIDB_MCP_CONTEXT_MAX_AGE_SECONDS: String(AGE_SECONDS),
    TIDB_MCP_UPSTREAM_TIMEOUT_MS: String(upstreamTimeoutMs),
  });

beforeEach(async () => {
  server = await start();
  expect(await use()).toBe(200);
});
afterEach(() => server.stop());

/** Asks for something that needs no call upstream. */
async function use(): Promise<number> {
  const { publicKey, privateKey } = server.sandbox;
  return (await ask(`${server.url}/v1/capabilities`, bearer(`${publicKey}:${privateKey}`))).status;
}
async function useAfter(seconds: number): Promise<number> {
  server.clock.advance(seconds * 1000);
  return use();
}
const snapshot = async () =>
  (await ask(`${server.url}/metrics`, { headers: { accept: 'application/json' } })).json<{
    auth: Record<string, number>;
    provenCredentials: number;
  }>();
const validations = async (): Promise<number> => {
  // A rendering is up to a second old.
  server.clock.advance(1000);
  const { accepted = 0, rejected = 0, unavailable = 0 } = (await snapshot()).auth;
  return accepted + rejected + unavailable;
};

describe('A maximum age of contexts', () => {
  it('notices that a busy credential was revoked within the age, its spread and one use', async () => {
    server.sandbox.rejectKey(server.sandbox.publicKey);
    expect(await useAfter(AGE_SECONDS - 1)).toBe(200);
    server.clock.advance(DUE_MS - (AGE_SECONDS - 1) * 1000);
    expect(await use()).toBe(200);
    await waitUntil('the rejection was noticed', async () => (await validations()) === 2);
    expect((await snapshot()).provenCredentials).toBe(0);
    expect(await use()).toBe(401);
  });

  it('never lets a request wait for a TiDB Cloud that hangs, until twice the age', async () => {
    server.sandbox.hang = true;
    server.clock.advance(DUE_MS);
    const answered = await Promise.all(Array.from({ length: 10 }, () => use()));
    expect(answered).toEqual(Array.from({ length: 10 }, () => 200));
    // All ten were answered while the one revalidation that they set off was still under way.
    expect(await validations()).toBe(1);
    server.clock.advance(2 * AGE_SECONDS * 1000 - DUE_MS);
    expect(await use()).toBe(503);
    server.sandbox.hang = false;
    expect(await use()).toBe(200);
    server.clock.advance(1000);
    expect((await snapshot()).provenCredentials).toBe(1);
  });

  it('asks a TiDB Cloud that is away only now and then, and forgets nobody for it', async () => {
    server.sandbox.outage = true;
    const before = server.sandbox.requests.length;
    for (let s = 0; s < 2 * AGE_SECONDS - 1; s += 1) {
      expect(await useAfter(1)).toBe(200);
      await waitUntil('what was asked is answered', () => server.sandbox.requests.every(({ status }) => status !== 0));
    }
    const asked = server.sandbox.requests.length - before;
    expect(asked).toBeGreaterThanOrEqual(2);
    expect(asked).toBeLessThanOrEqual(4);
    expect(await useAfter(1)).toBe(503);
    server.sandbox.outage = false;
    expect(await use()).toBe(200);
  });

  it('costs one call to TiDB Cloud per credential and interval', async () => {
    const before = server.sandbox.requests.length;
    for (let s = 0; s < 10 * AGE_SECONDS; s += 3) {
      expect(await useAfter(3)).toBe(200);
      await waitUntil('what was asked is answered', () => server.sandbox.requests.every(({ status }) => status !== 0));
    }
    const asked = server.sandbox.requests.length - before;
    expect(asked).toBeGreaterThanOrEqual(7);
    expect(asked).toBeLessThanOrEqual(10);
  });

  it('keeps nobody from stopping while a revalidation hangs', async () => {
    await server.stop();
    // Waiting for this one would be longer than a test may take.
    server = await start(3_600_000);
    expect(await use()).toBe(200);
    server.sandbox.hang = true;
    server.clock.advance(DUE_MS);
    expect(await use()).toBe(200);
    await waitUntil('it hangs', () => server.sandbox.requests.at(-1)?.status === 0);
    await server.running.stop();
  });
});
