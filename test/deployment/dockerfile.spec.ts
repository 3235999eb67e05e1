import { chmodSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { spawnSync } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freePort } from '../support/free-port.js';
import { BuildContext, carryOut, parseDockerfile, type Stage, textsOf } from './dockerfile.js';
import { dockerFile, ROOT } from './files.js';
import { type Running, start, untilAnswers } from './processes.js';

const stages = parseDockerfile(dockerFile('Dockerfile'));
const image = stages.at(-1) as Stage;
const context = new BuildContext(ROOT);
const environment = Object.fromEntries(
  [...(textsOf(image, 'ENV')[0] ?? '').matchAll(/(\w+)=(\S+)/g)].map(([, name = '', value = '']) => [name, value]),
);

const entrypoint = JSON.parse(textsOf(image, 'ENTRYPOINT')[0] ?? '') as string[];

describe('docker/Dockerfile', () => {
  it('takes every stage from one Node.js 24 image, and the last one brings nothing for development', () => {
    expect(dockerFile('Dockerfile')).toMatch(/^ARG NODE_IMAGE=node:24-/m);
    expect(stages.map((stage) => textsOf(stage, 'FROM')[0]?.replace(/ AS .*/, ''))).toEqual(
      stages.map(() => '${NODE_IMAGE}'),
    );
    const copied = textsOf(image, 'COPY').filter((text) => text.startsWith('--from='));
    expect(copied).toEqual(['--from=packages /app/node_modules ./node_modules', '--from=build /app/dist ./dist']);
  });

  it('starts the server itself, so that signals reach it, as a user that is not root', () => {
    expect(entrypoint).toEqual(['node', '--min-semi-space-size=16', '/app/dist/cli.js']);
    expect(JSON.parse(textsOf(image, 'CMD')[0] ?? '')).toEqual(['serve']);
    expect(textsOf(image, 'USER')).toEqual(['1000:1000']);
    expect(textsOf(image, 'STOPSIGNAL')).toEqual(['SIGTERM']);
    expect(environment).toMatchObject({ TIDB_MCP_HOST: '0.0.0.0', TIDB_MCP_GLOBAL_UNPROVEN_SHARE: '0.5' });
  });

  it('lets no secret, test or repository into the build', () => {
    const kept = [
      '.env',
      'docker/.env',
      'data/control.db',
      '.git/config',
      'node_modules/x/index.js',
      'docker/tls/key.pem',
    ];
    const tests = ['src/cli.spec.ts', 'src/limits/admission.spec.ts', 'test/support/setup.ts'];
    expect([...kept, ...tests].filter((path) => context.has(path))).toEqual([]);
    const needed = ['package.json', 'package-lock.json', '.npmrc', 'src/cli.ts', 'src/limits/admission.ts'];
    expect(needed.filter((path) => !context.has(path))).toEqual([]);
  });
});

describe('the health check', () => {
  /** The exit status of what HEALTHCHECK runs. */
  const check = (env: Record<string, string>) =>
    spawnSync(process.execPath, [join(ROOT, 'docker/healthcheck.mjs')], { env, timeout: 10_000 }).status;

  it('is the file that the image has, run by node', () => {
    const [text = ''] = textsOf(image, 'HEALTHCHECK');
    expect(text).toContain('CMD ["node", "/app/healthcheck.mjs"]');
    expect(textsOf(image, 'COPY').join(' ')).toContain('docker/healthcheck.mjs');
  });

  it('fails where nobody listens', async () => {
    expect(check({ TIDB_MCP_PORT: String(await freePort()) })).toBe(1);
  });
});

const can = process.getuid?.() === 0 && process.env['TEST_CLEAN_BUILD'] !== undefined;
const note = can ? '' : ' (skipped: TEST_CLEAN_BUILD is not set, or the user is not root)';

describe.skipIf(!can)(`the Dockerfile's commands in a clean folder${note}`, () => {
  let folder: string;
  let root: string;
  let server: Running;
  const upstream = createServer((_request, response) => response.writeHead(500).end());

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'image-'));
    chmodSync(folder, 0o755);
    root = carryOut(stages, context, folder);
    await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
  }, 600_000);

  afterAll(async () => {
    await server?.end();
    upstream.close();
    rmSync(folder, { recursive: true, force: true });
  }, 60_000);

  it('make an image without packages for development, sources or tests', () => {
    const packages = readdirSync(join(root, 'app/node_modules'));
    expect(packages).toContain('fastify');
    expect(packages.filter((name) => ['typescript', 'vitest', 'oxlint', 'prettier'].includes(name))).toEqual([]);
    expect(existsSync(join(root, 'app/src'))).toBe(false);
    expect(
      readdirSync(join(root, 'app/dist'), { recursive: true }).filter((name) => /\.spec\./.test(String(name))),
    ).toEqual([]);
  });

  it('serve as user 1000 from a file system that it cannot write to, live, ready and ended by SIGTERM', async () => {
    const port = await freePort();
    const { port: away } = upstream.address() as AddressInfo;
    const env = {
      ...environment,
      // The folder stands for the image's root.
      TIDB_MCP_CONTROL_DB_URL: `sqlite:${join(root, 'data/control.db')}`,
      TIDB_MCP_HOST: '127.0.0.1',
      TIDB_MCP_PORT: String(port),
      TIDB_MCP_SERVERLESS_API_URL: `http://127.0.0.1:${away}`,
      TIDB_MCP_IAM_API_URL: `http://127.0.0.1:${away}`,
      TIDB_MCP_SHUTDOWN_GRACE_SECONDS: '0',
      HOME: '/nonexistent',
    };
    const before = listing();
    const [, ...flags] = entrypoint.slice(0, -1);
    const command = [process.execPath, ...flags, join(root, 'app/dist/cli.js'), 'serve'] as const;
    server = start({ name: 'server', folder, port, env, cwd: join(root, 'app'), uid: 1000, command: [...command] });
    await untilAnswers(server, '/health/ready');
    const ready = (await (await fetch(`http://127.0.0.1:${port}/health/ready`)).json()) as {
      details: { controlDatabase: unknown };
    };
    expect(ready.details.controlDatabase).toMatchObject({ degraded: false, connected: true });
    const checked = spawnSync(process.execPath, [join(root, 'app/healthcheck.mjs')], {
      env,
      uid: 1000,
      timeout: 10_000,
    });
    expect(checked.status).toBe(0);
    expect(await server.end()).toBe(0);
    // It owns nothing there and has written nowhere but to /data.
    expect(listing()).toEqual(before);
    expect(existsSync(join(root, 'data/control.db'))).toBe(true);
  }, 60_000);

  const listing = () => readdirSync(join(root, 'app'), { recursive: true }).length;
});
