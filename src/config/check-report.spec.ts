import { describe, expect, it } from 'vitest';
import { checkReport } from './check-report.js';
import { parseConfig } from './parse-config.js';
import { SETTING_KEYS, variableName } from './settings.js';

const SECRETS = {
  TIDB_MCP_CONTROL_DB_URL: 'mysql://root:hunter2@db.example.com/control',
  TIDB_MCP_V1_TOKENS: 'shared-token-number-one,shared-token-number-two',
  TIDB_MCP_ADMIN_TOKEN: 'the-admins-own-token',
  TIDB_CLOUD_PUBLIC_KEY: 'publichalf',
  TIDB_CLOUD_PRIVATE_KEY: 'privatehalf',
};

const lineOf = (report: string, variable: string) => report.split('\n').find((line) => line.includes(` ${variable} `));

describe('check', () => {
  it('says of every setting what is in force and whether it was set', () => {
    const report = checkReport(parseConfig({ TIDB_MCP_PORT: '9090' }));
    for (const key of SETTING_KEYS) expect(lineOf(report, variableName(key))).toBeDefined();
    expect(lineOf(report, 'TIDB_MCP_PORT')).toMatch(/set +9090$/);
    expect(lineOf(report, 'TIDB_MCP_HOST')).toMatch(/default +127\.0\.0\.1$/);
    expect(lineOf(report, 'TIDB_MCP_CLIENT_IP_HEADER')).toMatch(/default +\(none\)$/);
    expect(lineOf(report, 'TIDB_MCP_ALLOWED_HOSTS')).toMatch(/default +localhost, 127\.0\.0\.1, \[::1\]$/);
  });

  it('prints no secret, and the control database without its credential', () => {
    const report = checkReport(parseConfig(SECRETS));
    for (const secret of ['hunter2', 'root', 'shared-token', 'the-admins', 'privatehalf']) {
      expect(report).not.toContain(secret);
    }
    expect(lineOf(report, 'TIDB_MCP_CONTROL_DB_URL')).toMatch(/set +mysql:\/\/db\.example\.com:3306\/control$/);
    expect(lineOf(report, 'TIDB_MCP_V1_TOKENS')).toMatch(/\*\*\* \(2\)$/);
    expect(lineOf(report, 'TIDB_CLOUD_PUBLIC_KEY')).toMatch(/publichalf$/);
  });

  it('lists warnings and risks apart', () => {
    const report = checkReport(parseConfig({ TIDB_MCP_PROT: '1' }));
    const [, warnings = '', afterWarnings = ''] = /\nWarnings\n([\s\S]*?)\n\nRisks\n([\s\S]*)$/.exec(report) ?? [];
    expect(warnings).toContain('TIDB_MCP_PROT is unknown');
    expect(afterWarnings).toContain('TIDB_MCP_GLOBAL_UNPROVEN_SHARE=1');
    expect(report).toContain('Nothing is wrong.');
  });

  it('says once that a layer is only watched', () => {
    const report = checkReport(parseConfig({ TIDB_MCP_SHADOW: 'tenant' }));
    expect(report.match(/TIDB_MCP_SHADOW=tenant/g)).toHaveLength(1);
  });

  it('says that nothing is in force while a setting is wrong', () => {
    const report = checkReport(parseConfig({ TIDB_MCP_PORT: 'x' }));
    expect(report).toContain('Nothing is in force: 1 setting is wrong.');
  });
});
