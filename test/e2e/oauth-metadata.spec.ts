import { createServer, type AddressInfo } from 'node:net';
import { discoverOAuthProtectedResourceMetadata, extractWWWAuthenticateParams } from '@modelcontextprotocol/client';
import { afterEach, describe, expect, it } from 'vitest';
import { ask, bearer, callTool, rpc, startTestServer, type TestServer } from '../support/test-server.js';

const ISSUER = 'https://login.example.com/tenant';
const PUBLIC = 'https://mcp.example.com';
const PATH = '/.well-known/oauth-protected-resource';
const BASIC = 'Basic realm="tidb-cloud-mcp", charset="UTF-8"';

let server: TestServer | undefined;
afterEach(() => server?.stop());

async function start(env: Record<string, string> = {}): Promise<TestServer> {
  server = await startTestServer({ TIDB_MCP_OAUTH_ISSUER: ISSUER, TIDB_MCP_PUBLIC_URL: PUBLIC, ...env });
  return server;
}
const challengeOf = async (url: string, init: RequestInit): Promise<string | null> => {
  const { status, headers } = await ask(url, init);
  expect(status).toBe(401);
  return headers.get('www-authenticate');
};

describe('With an OAuth issuer, the metadata of this protected resource', () => {
  it('name the issuer, for the server as a whole and for its MCP endpoint', async () => {
    const { url } = await start();
    for (const [path, resource] of [
      [PATH, PUBLIC],
      [`${PATH}/mcp`, `${PUBLIC}/mcp`],
    ]) {
      const answer = await ask(url + path);
      expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/json']);
      // A cache gives what it keeps to pages of allowed origins as well.
      expect([answer.headers.get('cache-control'), answer.headers.get('vary')]).toEqual([
        'public, max-age=3600',
        'Origin',
      ]);
      expect(answer.json()).toEqual({
        resource,
        authorization_servers: [ISSUER],
        bearer_methods_supported: ['header'],
        resource_name: 'tidb-cloud-mcp',
      });
    }
  });

  it('cost nothing, whoever asks however often, and are there to be read alone', async () => {
    const { url, sandbox } = await start({ TIDB_MCP_PREAUTH_BURST: '1', TIDB_MCP_GLOBAL_BURST: '2' });
    for (let i = 0; i < 20; i += 1) expect((await ask(`${url}${PATH}/mcp`)).status).toBe(200);
    expect((await ask(`${url}${PATH}/v1`)).status).toBe(404);
    expect((await ask(`${url}${PATH}/`)).status).toBe(404);
    const posted = await ask(url + PATH, { method: 'POST', body: 'x' });
    expect([posted.status, posted.headers.get('allow')]).toEqual([405, 'GET']);
    const { publicKey, privateKey } = sandbox;
    expect((await ask(`${url}/v1/capabilities`, bearer(`${publicKey}:${privateKey}`))).status).toBe(200);
  });

  it('are where a 401 points to, on both surfaces, and Basic is named beside', async () => {
    const { url } = await start();
    const mcp = `Bearer realm="tidb-cloud-mcp", resource_metadata="${PUBLIC}${PATH}/mcp", ${BASIC}`;
    expect(await challengeOf(`${url}/mcp`, rpc(callTool('tidb_capabilities')))).toBe(mcp);
    expect(await challengeOf(`${url}/mcp`, rpc(callTool('tidb_capabilities'), 'an-unknown-token'))).toBe(mcp);
    const v1 = `Bearer realm="tidb-cloud-mcp", resource_metadata="${PUBLIC}${PATH}", ${BASIC}`;
    expect(await challengeOf(`${url}/v1/clusters`, {})).toBe(v1);
  });

  it('are not where the operator’s own token comes from', async () => {
    const { url } = await start({ TIDB_MCP_ADMIN_TOKEN: 'an-operators-own-token' });
    expect(await challengeOf(`${url}/metrics`, {})).not.toContain('resource_metadata');
  });

  it('are found and taken by an MCP client that starts from a 401', async () => {
    const port = await freePort();
    const url = `http://127.0.0.1:${port}`;
    await start({ TIDB_MCP_PORT: String(port), TIDB_MCP_PUBLIC_URL: url });
    const refused = await fetch(`${url}/mcp`, rpc(callTool('tidb_capabilities')));
    const { resourceMetadataUrl } = extractWWWAuthenticateParams(refused);
    const found = await discoverOAuthProtectedResourceMetadata(`${url}/mcp`, { resourceMetadataUrl });
    expect([found.resource, found.authorization_servers]).toEqual([`${url}/mcp`, [ISSUER]]);
    expect((await discoverOAuthProtectedResourceMetadata(`${url}/mcp`)).resource).toBe(`${url}/mcp`);
  });
});

describe('Without an OAuth issuer', () => {
  it('there are no metadata, and a 401 points nowhere', async () => {
    server = await startTestServer({ TIDB_MCP_PUBLIC_URL: PUBLIC });
    for (const path of [PATH, `${PATH}/mcp`]) expect((await ask(server.url + path)).status).toBe(404);
    const challenge = `${BASIC}, Bearer realm="tidb-cloud-mcp"`;
    expect(await challengeOf(`${server.url}/mcp`, rpc(callTool('tidb_capabilities')))).toBe(challenge);
  });
});

async function freePort(): Promise<number> {
  const probe = createServer();
  await new Promise<void>((resolve) => probe.listen(0, '127.0.0.1', resolve));
  const { port } = probe.address() as AddressInfo;
  await new Promise((resolve) => probe.close(resolve));
  return port;
}
