import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { SETTING_KEYS, variableName } from '../../src/config/settings.js';
import { parseConfig } from '../../src/config/parse-config.js';
import { dockerFile, type Loose, ROOT, yamlDocuments } from './files.js';
import { runTool, tool } from './tools.js';

const compose = tool('docker-compose', ['version']);
const [file] = yamlDocuments('compose.yaml') as [Loose];
const { services } = file;
const instances = ['mcp-1', 'mcp-2'];
const seconds = (text: string) => Number(/^(\d+)s$/.exec(text)?.[1]);

/** `docker-compose config`: Docker's own reading of the file, with its published schema. */
function composeConfig(env: string) {
  const folder = mkdtempSync(join(tmpdir(), 'deployment-'));
  writeFileSync(join(folder, '.env'), env);
  const args = ['--env-file', join(folder, '.env'), '-f', join(ROOT, 'docker/compose.yaml'), 'config'];
  const result = runTool('docker-compose', args);
  rmSync(folder, { recursive: true });
  return result;
}

describe.skipIf(!compose.available)(`docker/compose.yaml read by docker-compose${compose.note}`, () => {
  const secrets = 'TIDB_MCP_ADMIN_TOKEN=0123456789abcdef\nGRAFANA_ADMIN_PASSWORD=secret\n';

  it('is valid', () => {
    expect(composeConfig(secrets)).toMatchObject({ status: 0 });
  });

  it('does not start without an admin token or a password for Grafana', () => {
    expect(composeConfig('')).toMatchObject({ status: 1 });
    expect(composeConfig('TIDB_MCP_ADMIN_TOKEN=0123456789abcdef\n').output).toContain('set it in docker/.env');
  });
});

describe('docker/compose.yaml', () => {
  it('gives the instances a configuration that the server takes, matched to nginx', () => {
    for (const name of instances) {
      const environment = Object.entries(services[name].environment as Record<string, string>);
      const set = environment.map(([variable, value]) => [variable, filled(value)]);
      const parsed = parseConfig({ ...imageEnv(), ...Object.fromEntries(set) });
      expect(parsed).toMatchObject({ ok: true, warnings: [] });
      if (!parsed.ok) return;
      // nginx appends one entry.
      expect(parsed.config.trustedProxyDepth).toBe(1);
      expect(parsed.config.globalUnprovenShare).toBe(0.5);
      expect(parsed.config.allowedHosts).toEqual(['localhost', '127.0.0.1', 'mcp-1', 'mcp-2']);
      expect(seconds(services[name].stop_grace_period)).toBeGreaterThanOrEqual(
        parsed.config.shutdownGraceSeconds + 20 + 5 + 5,
      );
    }
    expect(dockerFile('nginx.conf')).toContain('X-Forwarded-For $proxy_add_x_forwarded_for;');
  });

  it('publishes nothing of an instance or the database, and everything else on loopback only', () => {
    const published = Object.entries(services).filter(([, service]) => (service as Loose).ports !== undefined);
    expect(published.map(([name]) => name).sort()).toEqual(['grafana', 'nginx', 'prometheus']);
    for (const [, service] of published) {
      for (const port of (service as Loose).ports) expect(port).toMatch(/^(\$\{PUBLISH:-)?127\.0\.0\.1:/);
    }
    expect(services.tidb.networks).toEqual(['data']);
    expect(file.networks.data).toEqual({ internal: true });
    const onData = Object.entries(services).filter(([, service]) => 'data' in namesOf((service as Loose).networks));
    expect(onData.map(([name]) => name).sort()).toEqual(['mcp-1', 'mcp-2', 'tidb']);
  });

  it('runs the server and nginx with a read-only root, no capabilities and no root user', () => {
    for (const name of [...instances, 'nginx']) {
      expect(services[name]).toMatchObject({ read_only: true, cap_drop: ['ALL'] });
      expect(services[name].security_opt).toContain('no-new-privileges:true');
    }
    expect(services.nginx.user).toBe('101:101');
  });

  it('has the instances where nginx and Prometheus look for them', () => {
    const addresses = instances.map((name) => `${name}:${services[name].networks.edge.ipv4_address}`);
    expect(services.nginx.extra_hosts).toEqual(addresses);
    const upstreams = [...dockerFile('nginx.conf').matchAll(/server (mcp-\d:8080)/g)].map(([, server]) => server);
    expect([...new Set(upstreams)]).toEqual(['mcp-1:8080', 'mcp-2:8080']);
    const [prometheus] = yamlDocuments('prometheus/prometheus.yml') as [Loose];
    expect(prometheus.scrape_configs[0].static_configs[0].targets).toEqual(['mcp-1:8080', 'mcp-2:8080']);
    const { credentials_file: token } = prometheus.scrape_configs[0].authorization;
    expect(services.prometheus.command[0]).toContain(`>${token}`);
  });

  it('mounts only what is there', () => {
    const mounts = Object.values(services).flatMap((service) => (service as Loose).volumes ?? []) as string[];
    const paths = mounts.map((mount) => mount.split(':')[0] ?? '').filter((path) => path.startsWith('.'));
    expect(paths.length).toBeGreaterThan(5);
    expect(paths.filter((path) => !existsSync(join(ROOT, 'docker', path)))).toEqual([]);
  });

  it('asks for nothing in docker/.env that the example does not explain', () => {
    const used = [...dockerFile('compose.yaml').matchAll(/\$\{(\w+)(:-|:\?)/g)].map(([, name = '']) => name);
    const settings = new Set(SETTING_KEYS.map(variableName));
    const example = dockerFile('.env.example');
    const unexplained = used.filter((name) => !settings.has(name) && !example.includes(`${name}=`));
    expect([...new Set(unexplained)]).toEqual(['IMAGE_TAG']);
  });
});

function namesOf(networks: string[] | Record<string, unknown>): Record<string, unknown> {
  return Array.isArray(networks) ? Object.fromEntries(networks.map((name) => [name, {}])) : networks;
}

/** A value with its defaults in place, and secrets where they are asked for. */
function filled(value: string): string {
  return value.replace(/\$\{\w+:-([^}]*)\}/g, '$1').replace(/\$\{\w+:\?[^}]*\}/g, 'a-secret-of-the-operator');
}

/** What the image sets. */
function imageEnv(): Record<string, string> {
  const [, block = ''] = /^ENV ((?:.*\\\n)*.*)$/m.exec(dockerFile('Dockerfile')) ?? [];
  return Object.fromEntries([...block.matchAll(/(TIDB_\w+)=(\S+)/g)].map(([, name = '', value = '']) => [name, value]));
}
