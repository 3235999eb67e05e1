import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Environment } from './otlp-endpoint.js';
import { configOf, parseConfig } from './parse-config.js';
import { SETTING_KEYS, variableName } from './settings.js';

function problemsOf(env: Environment): string[] {
  const parsed = parseConfig(env);
  return parsed.ok ? [] : parsed.problems;
}

function warningsOf(env: Environment): string[] {
  return parseConfig(env).warnings;
}

describe('a mistake', () => {
  it('does not hide another one: all are told together', () => {
    const problems = problemsOf({
      TIDB_MCP_PORT: 'x',
      TIDB_MCP_TENANT_RPS: '0',
      TIDB_MCP_V1_TOKENS: 'abcdefghijklmnop',
      TIDB_MCP_GLOBAL_UNPROVEN_SHARE: '0.001',
    });
    expect(problems.map((problem) => problem.split('=')[0]).sort()).toEqual([
      'TIDB_MCP_GLOBAL_UNPROVEN_SHARE',
      'TIDB_MCP_PORT',
      'TIDB_MCP_TENANT_RPS',
      'TIDB_MCP_V1_TOKENS',
    ]);
  });

  it('stays on one line, whatever the value holds', () => {
    const [problem] = problemsOf({ TIDB_MCP_PORT: '80\r\nFAKE=1: fine' });
    expect(problem).toContain('80\\u{d}\\u{a}FAKE');
    expect(problem).not.toMatch(/[\r\n]/);
  });

  it('never prints a secret or a credential inside a URL', () => {
    const problems = problemsOf({
      TIDB_MCP_V1_TOKENS: 'short-one,with space in it',
      TIDB_MCP_ADMIN_TOKEN: 'tiny-secret',
      TIDB_CLOUD_PRIVATE_KEY: 'pri vate',
      TIDB_MCP_CONTROL_DB_URL: 'oracle://root:hunter2@db/x',
      TIDB_MCP_SERVERLESS_API_URL: 'https://user:hunter3@host',
      TIDB_MCP_ALLOWED_ORIGINS: 'https://user:hunter4@host',
    });
    expect(problems.length).toBeGreaterThanOrEqual(6);
    const text = problems.join('\n');
    for (const secret of ['short-one', 'with space', 'tiny-secret', 'pri vate', 'hunter2', 'hunter3', 'hunter4']) {
      expect(text).not.toContain(secret);
    }
    expect(text).toContain('TIDB_MCP_ADMIN_TOKEN=***: is shorter than 16 characters');
  });

  it.each([
    'https:user:hunter@host',
    'https:/user:hunter@host',
    'https:\\\\user:hunter@host',
    'https://user:/hunter@host',
    'https://user:#hunter@host',
    'user:hunter@host',
    'file://user:hunter@host',
  ])('never prints the password of a URL that is badly written, such as %s', (url) => {
    const names = ['TIDB_MCP_IAM_API_URL', 'TIDB_MCP_ALLOWED_ORIGINS', 'TIDB_MCP_HOST', 'OTEL_EXPORTER_OTLP_ENDPOINT'];
    const problems = problemsOf(Object.fromEntries(names.map((name) => [name, url])));
    expect(problems.length).toBeGreaterThan(1);
    expect(problems.join()).not.toContain('hunter');
  });

  it('in the name of a file shows the whole name', () => {
    expect(problemsOf({ TIDB_MCP_TELEMETRY: 'file:./me@work/' })[0]).toContain('=file:./me@work/: names no file');
  });

  it('in the URL of the control database is explained without stars in the explanation', () => {
    const [problem] = problemsOf({ TIDB_MCP_CONTROL_DB_URL: 'sqlite:' });
    expect(problem).toContain('names no file (sqlite:./path/control.db, or sqlite::memory:), allowed: sqlite:PATH');
  });

  it('in an OAuth issuer is that nobody knows where its clients would come back to', () => {
    const issuer = { TIDB_MCP_OAUTH_ISSUER: 'https://login.example.com' };
    expect(problemsOf(issuer)).toEqual([
      expect.stringMatching(
        /^TIDB_MCP_OAUTH_ISSUER=https:\/\/login\.example\.com: has no TIDB_MCP_PUBLIC_URL.*allowed/,
      ),
    ]);
    expect(problemsOf({ ...issuer, TIDB_MCP_PUBLIC_URL: 'https://mcp.example.com' })).toEqual([]);
    const local = { TIDB_MCP_OAUTH_ISSUER: 'http://localhost:9000/', TIDB_MCP_PUBLIC_URL: 'http://[::1]:8080/' };
    const { oauthIssuer, publicUrl } = configOf(local);
    expect([oauthIssuer, publicUrl]).toEqual(['http://localhost:9000/', 'http://[::1]:8080']);
  });
});

describe('a warning', () => {
  it('names the nearest known variable for a misspelt one, and not its value', () => {
    const warnings = warningsOf({ TIDB_MCP_TENENT_RPS: 'secret-value', TIDB_MCP_TRUSTED_PROXY_DEPTH: '1' });
    expect(warnings).toEqual([expect.stringMatching(/^TIDB_MCP_TENENT_RPS .*TIDB_MCP_TENANT_RPS\.$/)]);
  });

  it('is told for a misspelt name beside a mistake, too', () => {
    const parsed = parseConfig({ TIDB_MCP_PORT: 'x', TIDB_MCP_PROT: '1' });
    expect(parsed.ok).toBe(false);
    expect(parsed.warnings).toEqual([expect.stringContaining('TIDB_MCP_PORT')]);
  });

  it('leaves the variables of other programs alone', () => {
    expect(warningsOf({ PATH: '/bin', TIDB_HOST: 'x', TIDB_MCP_TRUSTED_PROXY_DEPTH: '1' })).toEqual([]);
  });

  it('tells at the start that no source of the client address is declared', () => {
    const nothing = expect.stringMatching(/^Neither TIDB_MCP_CLIENT_IP_HEADER nor \w+ names a source/);
    expect(warningsOf({})).toEqual([nothing]);
    expect(warningsOf({ TIDB_MCP_TRUSTED_PROXY_DEPTH: '0' })).toEqual([nothing]);
    expect(warningsOf({ TIDB_MCP_CLIENT_IP_HEADER: 'true-client-ip' })).toEqual([]);
    expect(warningsOf({ TIDB_MCP_CLIENT_IP_HEADER: 'true-client-ip', TIDB_MCP_SHADOW: 'quota' })).toEqual([
      expect.stringMatching(/^TIDB_MCP_SHADOW=quota: this layer is watched and not enforced\. Take it out/),
    ]);
    const shadowed = warningsOf({ TIDB_MCP_CLIENT_IP_HEADER: 'true-client-ip', TIDB_MCP_SHADOW: 'preauth,tenant' });
    expect(shadowed).toEqual([expect.stringContaining('these layers are watched and not enforced (preauth: up to a')]);
  });

  it('tells that the header wins over the depth', () => {
    const both = { TIDB_MCP_CLIENT_IP_HEADER: 'true-client-ip', TIDB_MCP_TRUSTED_PROXY_DEPTH: '2' };
    expect(warningsOf(both)).toEqual([expect.stringContaining('the header wins')]);
  });

  it('about addresses says nothing on stdio, where there are no limits', () => {
    expect(parseConfig({}, 'stdio').warnings).toEqual([]);
  });
});

describe('whatever the environment holds', () => {
  const name = fc.constantFrom(...SETTING_KEYS.map(variableName));
  const environment = fc.dictionary(
    name,
    fc.oneof(fc.string(), fc.string({ unit: 'binary' }), fc.double().map(String)),
  );

  it('the configuration is read or every mistake is one sentence in the one form', () => {
    fc.assert(
      fc.property(environment, (env) => {
        const parsed = parseConfig(env);
        if (parsed.ok) return;
        expect(parsed.problems.length).toBeGreaterThan(0);
        for (const problem of parsed.problems) expect(problem).toMatch(/^[A-Z0-9_]+=.*: .+, allowed: .+$/u);
      }),
    );
  });

  it('a number is taken exactly as it is written', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 999_999 }), fc.integer({ min: 0, max: 999_999 }), (units, millionths) => {
        const text = `${units}.${String(millionths).padStart(6, '0')}`;
        const { tenantRps } = configOf({ TIDB_MCP_TENANT_RPS: text });
        expect(Math.round(tenantRps * 1e6)).toBe(units * 1e6 + millionths);
      }),
    );
  });

  it('a value that is not understood never turns into the default', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1 }), (text) => {
        const understood = /^(0|[1-9]\d*)$/.test(text) && Number(text) <= 65_535;
        const parsed = parseConfig({ TIDB_MCP_PORT: text });
        expect(parsed.ok).toBe(understood);
        if (parsed.ok) expect(parsed.config.port).toBe(Number(text));
      }),
    );
  });
});
