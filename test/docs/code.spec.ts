import { createRequire } from 'node:module';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { toolName } from '../../src/capabilities/operation.js';
import { OPERATIONS } from '../../src/capabilities/operations.js';
import { SETTING_KEYS, variableName } from '../../src/config/settings.js';
import { ERROR_CODES } from '../../src/errors/error-code.js';
import { MetricsService } from '../../src/observability/metrics.service.js';
import { TELEMETRY_KINDS } from '../../src/observability/telemetry-event.js';
import { allDocuments, codeBlocks, inlineCode, readDocument, ROOT, section, tableRows } from './documents.js';

const operating = readDocument('docs/operating.md');
const bare = (cell = '') => cell.replaceAll('`', '');

describe('docs/operating.md', () => {
  it('has every metric of the code with its labels, and no other', async () => {
    const metrics = new MetricsService({ monotonicMs: () => 0, utcMs: () => 0 });
    const text = await metrics.text();
    const names = [...text.matchAll(/^# HELP (tidb_mcp_\S+)/gm)].map(([, name]) => name);
    const documented = tableRows(section(operating, '## Metrics')).map(([name]) => bare(name));
    expect(names.length).toBeGreaterThan(10);
    expect(documented.filter((name) => /^tidb_mcp_\w+$/.test(name)).sort()).toEqual(names.sort());
    const labels = new Map(
      tableRows(section(operating, '## Metrics')).map(([name, cell = '']) => [bare(name), inlineCode(cell).sort()]),
    );
    for (const [, name = '', shown = ''] of text.matchAll(/^(tidb_mcp_\w+_total)\{(.+)\} /gm)) {
      const used = [...shown.matchAll(/(\w+)="/g)].map(([, label = '']) => label);
      expect([name, labels.get(name)]).toEqual([name, used.sort()]);
    }
  });

  it('has every kind of telemetry event, and no other', () => {
    const kinds = tableRows(section(operating, '## Telemetry events')).flatMap(([kind = '']) => inlineCode(kind));
    expect(kinds.sort()).toEqual([...TELEMETRY_KINDS].sort());
  });
});

describe('docs/clients.md', () => {
  it('has every stable code with its status, and no other', () => {
    const rows = tableRows(section(readDocument('docs/clients.md'), '## What an error says'));
    const documented = Object.fromEntries(rows.map(([code, status]) => [bare(code), status]));
    const codes = Object.entries(ERROR_CODES).map(([code, { status }]) => [code, String(status)]);
    expect(rows.length).toBe(codes.length);
    expect(documented).toEqual(Object.fromEntries(codes));
  });
});

describe('the README', () => {
  it('has every operation with its tool and its route, in the order of the surfaces', () => {
    const rows = tableRows(section(readDocument('README.md'), '## What it serves'));
    const documented = rows.map(([tool, route]) => [bare(tool), bare(route)]);
    const served = OPERATIONS.map((operation) => {
      const { method, path } = operation.route;
      return [toolName(operation), `${method} /v1${path.replace(/:(\w+)/g, '{$1}')}`];
    });
    expect(documented).toEqual(served);
  });
});

describe('docs/architecture.md', () => {
  it('has the floors that the linter holds, in their order', () => {
    const rules = createRequire(import.meta.url)(join(ROOT, '.dependency-cruiser.cjs')) as {
      forbidden: { name: string }[];
    };
    const held = rules.forbidden.map(({ name }) => /^(.+)-only-down$/.exec(name)?.[1]).filter(Boolean);
    const [floors = ''] = codeBlocks(section(readDocument('docs/architecture.md'), '## The floors'), '');
    const drawn = floors
      .trim()
      .split('\n')
      .map((line) => line.split(/\s{2,}/));
    const names = drawn.map(([name, what = '']) => (name === 'starters' ? what.split(' · ').join('-') : name));
    expect(held.length).toBeGreaterThan(10);
    expect(names).toEqual(held);
  });
});

describe('every document', () => {
  const known = new Set(SETTING_KEYS.map(variableName));

  it.each(allDocuments())('names only variables that exist: %s', (path) => {
    const named = [...readDocument(path).matchAll(/\bTIDB_(?:MCP|CLOUD)_[A-Z0-9_]*[A-Z0-9]\b/g)].map(([name]) => name);
    // The clients' own variable that the configurations to paste read the whole key from.
    const theirs = new Set(['TIDB_CLOUD_KEY']);
    expect([...new Set(named)].filter((name) => !known.has(name) && !theirs.has(name))).toEqual([]);
  });
});
