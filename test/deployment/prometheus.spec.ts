import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ask, bearer, startTestServer, type TestServer } from '../support/test-server.js';
import { readDocument, section, tableRows } from '../docs/documents.js';
import { dockerFile, type Loose, ROOT, yamlDocuments } from './files.js';
import { runTool, tool } from './tools.js';

const promtool = tool('promtool', ['--version']);
const ADMIN_TOKEN = 'prometheus-reads-with-this';

/** The metrics that an expression asks for, with the labels it selects or groups by. */
function asked(expression: string): { name: string; labels: string[] }[] {
  const selectors = [...expression.matchAll(/\b((?:tidb_mcp|nodejs|process)_\w+)(?:\{([^}]*)\})?/g)];
  const grouped = [...expression.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, names = '']) => names.split(/,\s*/));
  return selectors.map(([, name = '', matchers = '']) => ({
    name,
    labels: [...[...matchers.matchAll(/(\w+)\s*[=!]/g)].map(([, label = '']) => label), ...grouped],
  }));
}

/**
 * What a scrape holds: every sample's name with the labels it has been seen with, job and instance being Prometheus's
 * own.
 */
function samplesOf(scrape: string): Map<string, Set<string>> {
  const samples = new Map<string, Set<string>>();
  for (const [, name = '', shown = ''] of scrape.matchAll(/^([a-z_]\w*)(?:\{(.*)\})? /gm)) {
    const labels = samples.get(name) ?? new Set(['job', 'instance']);
    for (const [, label = ''] of shown.matchAll(/(\w+)="/g)) labels.add(label);
    samples.set(name, labels);
  }
  return samples;
}

describe('what Prometheus and Grafana ask for', () => {
  let server: TestServer;
  let scrape = '';
  let samples = new Map<string, Set<string>>();

  beforeAll(async () => {
    server = await startTestServer({ TIDB_MCP_ADMIN_TOKEN: ADMIN_TOKEN });
    const credential = `${server.sandbox.publicKey}:${server.sandbox.privateKey}`;
    await ask(`${server.url}/v1/clusters`, bearer(credential));
    await ask(`${server.url}/v1/clusters`);
    server.clock.advance(2_000);
    scrape = (await ask(`${server.url}/metrics`, bearer(ADMIN_TOKEN))).text;
    samples = samplesOf(scrape);
  });
  afterAll(() => server?.stop());

  /** What is asked for and not there; a label of a metric that has had no sample yet cannot be missing. */
  function missing(expressions: string[]): string[] {
    return expressions.flatMap(asked).flatMap(({ name, labels }) => {
      const known = samples.get(name);
      if (known === undefined) return scrape.includes(`# TYPE ${name} `) ? [] : [name];
      const quiet = known.size === 2 && labels.length > 2;
      return quiet
        ? []
        : labels.filter((label) => label !== '' && !known.has(label)).map((label) => `${name} by ${label}`);
    });
  }

  it('finds every metric and label of the alerts in what the server answers', () => {
    const [{ groups }] = yamlDocuments('prometheus/alerts.yml') as [Loose];
    const expressions = groups.flatMap(({ rules }: Loose) => rules.map(({ expr }: Loose) => String(expr)));
    expect(expressions.length).toBeGreaterThan(15);
    expect(missing(expressions)).toEqual([]);
  });

  it('finds every metric and label of the dashboard in what the server answers', () => {
    const dashboard = JSON.parse(dockerFile('grafana/dashboards/tidb-cloud-mcp.json'));
    const panels = dashboard.panels.filter(({ type }: Loose) => type !== 'row');
    const expressions = panels.flatMap(({ targets }: Loose) => targets.map(({ expr }: Loose) => String(expr)));
    expect(panels.length).toBeGreaterThan(15);
    expect(missing(expressions)).toEqual([]);
    // Whatever the server counts is on the dashboard.
    const shown = new Set(expressions.flatMap(asked).map(({ name }: Loose) => String(name).replace(/_bucket$/, '')));
    const counted = [...scrape.matchAll(/^# TYPE (tidb_mcp_\w+)/gm)].map(([, name]) => name);
    expect(counted.filter((name) => !shown.has(name))).toEqual([]);
  });

  it('would notice a metric that is not there', () => {
    expect(missing(['rate(tidb_mcp_refusals_total{limit="global"}[5m])'])).toEqual([]);
    expect(missing(['rate(tidb_mcp_refusal_total[5m])'])).toEqual(['tidb_mcp_refusal_total']);
    expect(missing(['sum by (tenant) (tidb_mcp_refusals_total)'])).toEqual(['tidb_mcp_refusals_total by tenant']);
  });

  it('names each alert, says what to do, and has each explained in docs/operating.md, in its order', () => {
    const [{ groups }] = yamlDocuments('prometheus/alerts.yml') as [Loose];
    const explained = tableRows(section(readDocument('docs/operating.md'), '## Alerts'));
    const written = groups.flatMap(({ rules }: Loose) =>
      rules.map(({ alert, labels }: Loose) => [`\`${alert}\``, labels.severity]),
    );
    expect(explained.map(([alert, severity]) => [alert, severity])).toEqual(written);
    for (const { alert, annotations, labels } of groups.flatMap(({ rules }: Loose) => rules)) {
      expect(alert).toMatch(/^TidbMcp[A-Z]\w+$/);
      expect([alert, typeof annotations.summary, typeof annotations.description]).toEqual([alert, 'string', 'string']);
      expect(['critical', 'warning', 'info']).toContain(labels.severity);
    }
  });

  it.skipIf(!promtool.available)(`keeps to Prometheus's own rules for metrics${promtool.note}`, () => {
    // Of the Node.js client library's own metrics one is a unit short; ours are ours to keep right.
    const ours = scrape.replace(/^(?!# \w+ tidb_mcp_|tidb_mcp_).*\n?/gm, '');
    expect(runTool('promtool', ['check', 'metrics'], { input: ours })).toEqual({ status: 0, output: '' });
    // What Prometheus could not read would be an error here, of whatever part.
    expect(runTool('promtool', ['check', 'metrics'], { input: scrape }).output).not.toContain('error while linting');
  });
});

describe.skipIf(!promtool.available)(`docker/prometheus${promtool.note}`, () => {
  it('is a configuration that Prometheus takes, with rules that it takes', () => {
    // The token's file is made by the container, so it is put where the check looks for it.
    const folder = mkdtempSync(join(tmpdir(), 'deployment-'));
    writeFileSync(join(folder, 'admin-token'), ADMIN_TOKEN);
    writeFileSync(join(folder, 'alerts.yml'), dockerFile('prometheus/alerts.yml'));
    const config = dockerFile('prometheus/prometheus.yml').replace('/tmp/admin-token', join(folder, 'admin-token'));
    writeFileSync(join(folder, 'prometheus.yml'), config);
    const checked = runTool('promtool', ['check', 'config', '--lint-fatal', join(folder, 'prometheus.yml')]);
    rmSync(folder, { recursive: true });
    expect(checked).toMatchObject({ status: 0 });
    expect(checked.output).toMatch(/SUCCESS: \d\d rules found/);
  });

  it('raises each alert at what it is for, and none at a healthy deployment', () => {
    const file = join(ROOT, 'test/deployment/alerts.test.yml');
    expect(runTool('promtool', ['test', 'rules', file])).toMatchObject({ status: 0 });
  }, 90_000);

  it('has a test for every alert', () => {
    const [{ groups }] = yamlDocuments('prometheus/alerts.yml') as [Loose];
    const [{ tests }] = yamlDocuments('../test/deployment/alerts.test.yml') as [Loose];
    const titles = tests.map(({ name }: Loose) => String(name));
    const untested = groups
      .flatMap(({ rules }: Loose) => rules.map(({ alert }: Loose) => String(alert)))
      .filter((alert: string) => !titles.some((title: string) => title.endsWith(` raises ${alert}`)));
    expect(untested).toEqual([]);
  });
});
