import { describe, expect, it } from 'vitest';
import type { Environment } from './otlp-endpoint.js';
import { configOf } from './parse-config.js';
import { risks } from './risks.js';

const CAREFUL = {
  TIDB_MCP_HOST: '0.0.0.0',
  TIDB_MCP_CLIENT_IP_HEADER: 'fly-client-ip',
  TIDB_MCP_GLOBAL_UNPROVEN_SHARE: '0.5',
  TIDB_MCP_ADMIN_TOKEN: 'an-operators-token',
  TIDB_MCP_ALLOWED_HOSTS: 'mcp.example.com',
};

const risksOf = (env: Environment): string => risks(configOf(env)).join('\n');

describe('check advises', () => {
  it('to keep a part of the global bucket from unproven requests, and nothing else about the defaults', () => {
    expect(risks(configOf())).toEqual([expect.stringMatching(/^TIDB_MCP_GLOBAL_UNPROVEN_SHARE=1 .*0\.5/)]);
  });

  it('a careful operator only of what no setting can prevent', () => {
    expect(risks(configOf(CAREFUL))).toEqual([expect.stringContaining('only the proxy can connect')]);
  });

  it.each([
    [{ TIDB_MCP_CLIENT_IP_HEADER: '' }, 'without a declared source of the client address'],
    [{ TIDB_MCP_ADMIN_TOKEN: '' }, '/metrics is open'],
    [{ TIDB_MCP_ALLOWED_HOSTS: '' }, 'Any Host header is accepted'],
    [{ TIDB_MCP_TELEMETRY: 'off' }, 'TIDB_MCP_TELEMETRY=off'],
    [{ TIDB_MCP_GATEWAY_IPS: '0.0.0.0/0' }, 'TIDB_MCP_GATEWAY_IPS lists 0.0.0.0/0'],
    [{ TIDB_MCP_GATEWAY_RPS: '0.5' }, "gateways' budget"],
    [{ TIDB_MCP_HOST: '127.0.0.1', TIDB_MCP_ALLOWED_HOSTS: '' }, 'TIDB_MCP_ALLOWED_HOSTS has loopback names only'],
    [{ TIDB_MCP_ALLOWED_HOSTS: 'localhost:8080,[::1]:8080,127.0.0.2' }, 'any other Host gets 403'],
    [{ TIDB_MCP_IPV6_PREFIX: '128' }, 'many pre-auth buckets'],
    [{ TIDB_MCP_CONTROL_DB_URL: 'sqlite::memory:' }, 'control database is in memory'],
    [
      { TIDB_MCP_CONTROL_DB_URL: 'sqlite::memory:', TIDB_MCP_PERSIST_PROOF: 'true' },
      'TIDB_MCP_PERSIST_PROOF=true keeps nothing',
    ],
    [{ TIDB_MCP_IAM_API_URL: 'http://iam.example.com' }, 'unencrypted'],
    [{ TIDB_MCP_OAUTH_USERINFO_URL: 'http://login.example.com/userinfo' }, 'unencrypted'],
    [
      { TIDB_MCP_OAUTH_ISSUER: 'https://login.example.com', TIDB_MCP_PUBLIC_URL: 'https://mcp.example.com' },
      'all tokens of one subject one tenant',
    ],
    [
      { TIDB_CLOUD_PUBLIC_KEY: 'a', TIDB_CLOUD_PRIVATE_KEY: 'b', TIDB_MCP_V1_TOKENS: 'abcdefghijklmnop' },
      'shared /v1 token',
    ],
  ])('%j', (change, sentence) => {
    expect(risksOf(CAREFUL)).not.toContain(sentence);
    expect(risksOf({ ...CAREFUL, ...change })).toContain(sentence);
  });

  it('that a preflight must outlive the longest wait a rate limit may ask for', () => {
    expect(risksOf({ TIDB_MCP_CONFIRM_TTL_SECONDS: '59' })).toContain('wait for 60 s');
    expect(risksOf({ TIDB_MCP_CONFIRM_TTL_SECONDS: '60' })).not.toContain('preflight');
    expect(risksOf({ TIDB_MCP_TENANT_RPS: '0.001' })).toContain('wait for 1000 s');
    expect(risksOf({ TIDB_MCP_GLOBAL_RPS: '0.1', TIDB_MCP_GLOBAL_UNPROVEN_SHARE: '0.5' })).toContain('wait for 1010 s');
  });
});
