import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { configOf } from '../../src/config/parse-config.js';
import { SETTING_GROUPS, SETTING_KEYS, variableName } from '../../src/config/settings.js';
import { UNIT_TIMEOUT_MS } from '../../src/control-db/sql-dialect.js';
import { renderRefusal } from '../../src/limits/refusal.js';
import { allDocuments, codeBlocks, readDocument, ROOT, section, tableRows } from './documents.js';

const config = configOf({});
const limits = readDocument('docs/limits.md');
const readme = readDocument('README.md');
const many = (count: number) => count.toLocaleString('en-US');

const LAYERS = [
  ['Pre-auth', `${config.preauthRps} request a second, burst ${config.preauthBurst}`],
  ['Tenant', `${config.tenantRps} requests a second, burst ${config.tenantBurst}`],
  ['Daily quota', `${many(config.dailyQuota)} calls per UTC day`],
  ['Global', `${config.globalRps} requests a second, burst ${config.globalBurst}`],
];

describe('the numbers in docs/limits.md', () => {
  const numbers = tableRows(section(limits, '## All numbers'));

  it('are the defaults of the configuration', () => {
    const inForce = new Map(SETTING_KEYS.map((key) => [variableName(key), String(config[key])]));
    const stated = numbers.map(([variable = '', value]) => [variable.replaceAll('`', ''), value]);
    expect(stated).toEqual(stated.map(([variable = '']) => [variable, inForce.get(variable)]));
  });

  it('leave out no number that a limit has', () => {
    const group = SETTING_GROUPS.find(({ title }) => title === 'Limits');
    const stated = numbers.map(([variable = '']) => variable.replaceAll('`', ''));
    const variables = Object.keys(group?.shape ?? {}).map((key) => variableName(key as (typeof SETTING_KEYS)[number]));
    expect(variables.length).toBeGreaterThan(0);
    expect(stated).toEqual(expect.arrayContaining(variables));
  });

  it('are the same in the table of the four layers, in their order', () => {
    const rows = tableRows(section(limits, '## The four layers')).map(([layer, , value]) => [layer, value]);
    expect(rows).toEqual(LAYERS);
  });

  it("are the same in the README's table", () => {
    const table = section(readme, '## The limits').split('\n### ')[0] ?? '';
    const rows = tableRows(table).map(([layer, value = '']) => [layer, value.replace(', over all instances', '')]);
    expect(rows).toEqual(LAYERS);
  });

  it('are the same in the statement for customers', () => {
    const statement = section(limits, '## Statement for customers').replace(/\s*\n> /g, ' ');
    expect(statement).toContain(
      `Each API key may make up to ${config.tenantRps} requests per second, with short bursts of up to ` +
        `${config.tenantBurst}, and up to ${many(config.dailyQuota)} calls per UTC day.`,
    );
  });

  it('give the lag and the overshoot of two instances that are stated', () => {
    const jitter = Math.min(1, config.quotaFlushSeconds / 10);
    const readDelay = 0.5;
    const timeout = UNIT_TIMEOUT_MS / 1000;
    const lag = config.quotaFlushSeconds + jitter + readDelay + timeout;
    expect(limits).toContain(
      `= ${config.quotaFlushSeconds} + ${jitter} + ${readDelay} + ${timeout} = ${lag} seconds by default`,
    );
    const overshoot = config.tenantRps * lag + config.tenantBurst;
    expect(limits).toContain(`${config.tenantRps} × ${lag} + ${config.tenantBurst} = ${overshoot} calls plus p`);
  });

  it('give the budget of a gateway that is stated', () => {
    expect(section(limits, '### Gateways')).toContain(
      `${config.gatewayRps} requests a second, burst ${config.gatewayBurst}`,
    );
  });

  it('give the lives of context and proof that are stated', () => {
    expect(limits).toContain(`${config.contextIdleSeconds / 60} minutes of *idle* time`);
    expect(limits).toContain(`not **used** for ${config.provenTtlSeconds / 3600} hours`);
  });
});

describe('the refusals shown in the documents', () => {
  const rendered = (limit: 'tenant' | 'quota', retryAfterSeconds: number, surface: 'mcp' | 'v1') =>
    JSON.parse(renderRefusal({ limit, retryAfterSeconds }, { surface, modern: false }).body) as unknown;

  it('are what this server says on both surfaces', () => {
    const shown = codeBlocks(section(limits, '## What a refusal looks like'), 'json').map((code) => JSON.parse(code));
    expect(shown).toEqual([rendered('tenant', 3, 'mcp'), rendered('quota', 5423, 'v1')]);
  });

  it('are what this server says in the README too', () => {
    const shown = codeBlocks(section(readme, '### When you are refused'), 'json').map((code) => JSON.parse(code));
    expect(shown).toEqual([rendered('tenant', 1, 'mcp'), rendered('tenant', 1, 'v1')]);
  });

  it('are listed with the code that belongs to each limit', () => {
    const rows = tableRows(section(limits, '## What a refusal looks like'));
    const codes = rows.map(([limit = '', code = '']) => [limit.replaceAll('`', ''), code.replaceAll('`', '')]);
    const said = (['preauth', 'tenant', 'quota', 'global'] as const).map((limit) => {
      const { body } = renderRefusal({ limit, retryAfterSeconds: 1 }, { surface: 'v1', modern: false });
      return [limit, (JSON.parse(body) as { code: string }).code];
    });
    expect(codes).toEqual(said);
  });
});

const REFERENCE = join(ROOT, '../shared/spec/rate-limits-and-quotas.md');

describe.skipIf(!existsSync(REFERENCE))(
  'beside the page that first described the limits (skipped where absent)',
  () => {
    const flat = (text: string) => text.replace(/[*`>]/g, '').replace(/\s+/g, ' ').toLowerCase();

    it('the documents say it in words of their own, but for the statement for customers', () => {
      const page = readFileSync(REFERENCE, 'utf8');
      const [described = '', statement = ''] = page.split(/^## Statement.*$/m);
      const sentences = flat(described.replace(/^```[\s\S]*?^```$/gm, '').replace(/^[|#].*$/gm, ''))
        .split(/(?<=[.:]) /)
        .filter((sentence) => sentence.split(' ').length >= 8);
      const ours = allDocuments().map((path) => flat(readDocument(path)));
      expect(sentences.length).toBeGreaterThan(50);
      expect(sentences.filter((sentence) => ours.some((text) => text.includes(sentence.trim())))).toEqual([]);
      expect(flat(limits)).toContain(flat(statement).trim());
    });
  },
);
