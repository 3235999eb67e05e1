import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { describeSettings } from './describe-settings.js';
import { parseConfig } from './parse-config.js';
import { SETTING_KEYS } from './settings.js';
import { envExample, withSettings } from './settings-docs.js';

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

describe('the documents', () => {
  it('in docs/configuration.md have every setting as the schema has it (npm run config:docs writes them)', () => {
    const written = read('docs/configuration.md');
    expect(written).toBe(withSettings(written));
    for (const row of describeSettings()) expect(written).toContain(`| \`${row.variable}\` |`);
  });

  it('in .env.example are up to date (npm run config:docs writes it)', () => {
    expect(read('.env.example')).toBe(envExample());
  });

  it('can be used as they are: every line of .env.example is accepted once its comment sign is removed', () => {
    const env = Object.fromEntries(
      [...envExample().matchAll(/^# (TIDB_[A-Z0-9_]+)=(.*)$/gm)].map(([, name, value]) => [name, value]),
    );
    expect(Object.keys(env)).toHaveLength(SETTING_KEYS.length);
    expect(parseConfig(env)).toMatchObject({ ok: true, warnings: [expect.stringContaining('Neither')] });
  });

  it('name every setting once and describe it in whole sentences', () => {
    const rows = describeSettings();
    expect(rows.map((row) => row.key)).toEqual(SETTING_KEYS);
    for (const row of rows) expect(row.description).toMatch(/^[A-Z].*\.$/);
  });

  it('are refused without the markers that say where the settings go', () => {
    expect(() => withSettings('# Nothing')).toThrow('<!-- config:start -->');
  });
});
