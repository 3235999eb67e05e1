import { afterEach } from 'vitest';
import type { Sandbox } from '../../src/sandbox/sandbox.adapter.js';
import { ask, bearer, startTestServer, type TestServer } from '../support/test-server.js';

/** Starts servers that are stopped after each test of the file that calls this, the last one first. */
export function specServers(): (env?: Record<string, string>, sandbox?: Sandbox) => Promise<TestServer> {
  const servers: TestServer[] = [];
  afterEach(async () => {
    for (const server of servers.splice(0).toReversed()) await server.stop();
  });
  return async (env = {}, sandbox) => {
    const server = await startTestServer(env, {}, sandbox);
    servers.push(server);
    return server;
  };
}

/** The sandbox's key, as a credential. */
export const keyOf = ({ sandbox }: TestServer): string => `${sandbox.publicKey}:${sandbox.privateKey}`;

/** A request from an address, where the test server trusts what is forwarded, with a credential or none. */
export const from = (address: string, credential?: string): RequestInit => ({
  headers: { 'x-forwarded-for': address, ...(credential === undefined ? {} : bearer(credential).headers) },
});

/** What the capabilities tell such a caller of the limits. */
export const limits = async (server: TestServer, init: RequestInit) =>
  (await ask(`${server.url}/v1/capabilities`, init)).json().limits;

/** How many of so many requests are served (neither refused nor unauthenticated), one after the other. */
export async function served(
  server: TestServer,
  count: number,
  init: RequestInit,
  path = '/v1/capabilities',
): Promise<number> {
  let ok = 0;
  for (let i = 0; i < count; i += 1) if ((await ask(server.url + path, init)).status === 200) ok += 1;
  return ok;
}

/** The limits that refused so many requests, in order, null where none did. */
export async function refusedBy(
  server: TestServer,
  count: number,
  make: (i: number) => RequestInit,
): Promise<(string | null)[]> {
  const all: (string | null)[] = [];
  for (let i = 0; i < count; i += 1) {
    const answer = await ask(`${server.url}/v1/clusters`, make(i));
    all.push(answer.status === 429 ? answer.json().limit : null);
  }
  return all;
}

/** The metrics as JSON. */
export const snapshot = async (server: TestServer) =>
  (await ask(`${server.url}/metrics`, { headers: { accept: 'application/json' } })).json();
