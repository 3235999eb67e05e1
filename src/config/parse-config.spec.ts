import { describe, expect, it } from 'vitest';
import type { Environment } from './otlp-endpoint.js';
import { configOf, parseConfig } from './parse-config.js';
import { SETTING_KEYS, variableName } from './settings.js';

const KEY_PAIR = { TIDB_CLOUD_PUBLIC_KEY: 'public', TIDB_CLOUD_PRIVATE_KEY: 'private-half' };

function problemsOf(env: Environment): string[] {
  const parsed = parseConfig(env);
  return parsed.ok ? [] : parsed.problems;
}

describe('defaults', () => {
  it('are the numbers of the published table', () => {
    expect(configOf()).toMatchObject({
      host: '127.0.0.1',
      port: 8080,
      preauthRps: 1,
      preauthBurst: 5,
      gatewayIps: [],
      gatewayRps: 50,
      gatewayBurst: 100,
      tenantRps: 5,
      tenantBurst: 20,
      dailyQuota: 5000,
      globalRps: 100,
      globalBurst: 200,
      globalUnprovenShare: 1,
      trustedProxyDepth: 0,
      ipv6Prefix: 64,
      controlDbUrl: 'sqlite:./data/control.db',
      quotaFlushSeconds: 30,
      quotaRetentionDays: 90,
      shutdownGraceSeconds: 5,
      contextIdleSeconds: 1800,
      contextMaxAgeSeconds: 0,
      provenTtlSeconds: 86400,
      provenMax: 10000,
      preauthMaxKeys: 100000,
      serverlessApiUrl: 'https://serverless.tidbapi.com',
      iamApiUrl: 'https://iam.tidbapi.com',
      upstreamTimeoutMs: 10000,
      v1Tokens: [],
      v1MaxAddresses: 1000,
      confirmTtlSeconds: 300,
      readOnly: false,
      maxBodyBytes: 1048576,
      allowedOrigins: [],
      telemetry: 'stdout',
      telemetryFloodThreshold: 10,
      telemetryQueueMax: 10000,
      logLevel: 'info',
      transport: 'http',
      declared: [],
    });
  });

  it('leave what has no default undefined', () => {
    const { clientIpHeader, tidbCloudPublicKey, tidbCloudPrivateKey, adminToken } = configOf();
    expect([clientIpHeader, tidbCloudPublicKey, tidbCloudPrivateKey, adminToken]).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
  });

  it('also stand where every variable is empty, because empty is unset', () => {
    const empty = Object.fromEntries(SETTING_KEYS.map((key) => [variableName(key), '']));
    expect(configOf(empty)).toEqual(configOf());
  });
});

describe('a configuration', () => {
  it('can not be changed once it is read', () => {
    const config = configOf({ ...KEY_PAIR, TIDB_MCP_V1_TOKENS: 'abcdefghijklmnop' });
    expect(() => Object.assign(config, { port: 1 })).toThrow(TypeError);
    expect(() => (config.v1Tokens as string[]).push('x')).toThrow(TypeError);
  });

  it('says which settings were set', () => {
    expect(configOf({ TIDB_MCP_PORT: '8080', TIDB_MCP_HOST: '' }).declared).toEqual(['port']);
  });

  it('reads every list entry without the blanks around it and each gateway once', () => {
    const config = configOf({ TIDB_MCP_GATEWAY_IPS: ' 203.0.113.7 ,2001:db8::/48,203.0.113.7' });
    expect(config.gatewayIps).toEqual(['203.0.113.7', '2001:db8::/48']);
  });

  it('accepts only loopback names as Host on a loopback listener, and any elsewhere', () => {
    expect(configOf().allowedHosts).toEqual(['localhost', '127.0.0.1', '[::1]']);
    expect(configOf({ TIDB_MCP_HOST: '127.0.0.2' }).allowedHosts).toContain('127.0.0.2');
    expect(configOf({ TIDB_MCP_HOST: '0.0.0.0' }).allowedHosts).toEqual(['*']);
    expect(configOf({ TIDB_MCP_HOST: '0.0.0.0', TIDB_MCP_ALLOWED_HOSTS: 'MCP.example.com' }).allowedHosts).toEqual([
      'mcp.example.com',
    ]);
  });

  it('drops the slash at the end of a base URL and the default port of an origin', () => {
    const config = configOf({
      TIDB_MCP_IAM_API_URL: 'http://127.0.0.1:9000/iam/',
      TIDB_MCP_ALLOWED_ORIGINS: 'HTTPS://App.example.com:443',
    });
    expect(config.iamApiUrl).toBe('http://127.0.0.1:9000/iam');
    expect(config.allowedOrigins).toEqual(['https://app.example.com']);
  });

  it('knows a header by its lower-case name', () => {
    expect(configOf({ TIDB_MCP_CLIENT_IP_HEADER: 'Fly-Client-IP' }).clientIpHeader).toBe('fly-client-ip');
  });

  it('takes a file for telemetry', () => {
    expect(configOf({ TIDB_MCP_TELEMETRY: 'file:./events.jsonl' }).telemetry).toBe('file:./events.jsonl');
  });
});

describe('settings that depend on each other', () => {
  it('refuse shared tokens without the key they work with', () => {
    const tokens = { TIDB_MCP_V1_TOKENS: 'abcdefghijklmnop' };
    expect(problemsOf(tokens)[0]).toMatch(/^TIDB_MCP_V1_TOKENS=\*\*\*: .*TIDB_CLOUD_PUBLIC_KEY/);
    expect(problemsOf({ ...tokens, ...KEY_PAIR })).toEqual([]);
  });

  it('refuse half a key', () => {
    expect(problemsOf({ TIDB_CLOUD_PUBLIC_KEY: 'p' })[0]).toContain('has no TIDB_CLOUD_PRIVATE_KEY beside it');
    expect(problemsOf({ TIDB_CLOUD_PRIVATE_KEY: 'p' })[0]).toContain('has no TIDB_CLOUD_PUBLIC_KEY beside it');
  });

  it('refuse a share of the global bucket that leaves less than one request', () => {
    const share = (value: string) => problemsOf({ TIDB_MCP_GLOBAL_BURST: '4', TIDB_MCP_GLOBAL_UNPROVEN_SHARE: value });
    expect(share('0.24')[0]).toContain('allowed: at least 0.25');
    expect(share('0.25')).toEqual([]);
  });

  it('refuse an admin token that callers of /v1 have', () => {
    const same = 'abcdefghijklmnop';
    const problems = problemsOf({ ...KEY_PAIR, TIDB_MCP_V1_TOKENS: same, TIDB_MCP_ADMIN_TOKEN: same });
    expect(problems).toHaveLength(1);
    expect(problems[0]).not.toContain(same);
  });

  it('refuse the same shared token twice', () => {
    const problems = problemsOf({ ...KEY_PAIR, TIDB_MCP_V1_TOKENS: 'abcdefghijklmnop,abcdefghijklmnop' });
    expect(problems).toEqual([expect.stringContaining('entry 2 is there twice')]);
  });
});
