import { mkdtempSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { requestText } from '../load-client.js';
import { median } from '../numbers.js';
import { Child, freePort, productFile, type Start } from '../processes.js';
import type { Section } from '../report.js';

const REST_MS = 3000;
const PROBE = ['--expose-gc', '--import', new URL('../probe.js', import.meta.url).href];

interface Started {
  readonly milliseconds: number;
  readonly rss: number;
  readonly heapUsed: number;
}

/** Target 8: from the start of the process to its first answer, and its memory at rest. */
export async function start(quick: boolean): Promise<Section> {
  const BODY = '{}';
  const servers: Record<string, (port: string) => Start> = {
    'bare Fastify': (PORT) => ({ file: 'servers/fastify.js', env: { PORT, BODY } }),
    'bare Nest + Fastify': (PORT) => ({ file: 'servers/nest.js', env: { PORT, BODY } }),
    product: (port) => ({
      file: productFile('cli.js'),
      args: ['serve'],
      env: {
        TIDB_MCP_PORT: port,
        TIDB_MCP_CONTROL_DB_URL: `sqlite:${join(mkdtempSync(join(tmpdir(), 'tidb-mcp-bench-')), 'control.db')}`,
      },
    }),
  };
  const all = new Map(Object.keys(servers).map((name) => [name, [] as Started[]]));
  for (let round = 0; round < (quick ? 3 : 9); round += 1) {
    for (const [name, how] of Object.entries(servers)) all.get(name)?.push(await startOnce(how, round === 0));
  }
  const rows = [...all].map(([what, runs]) => ({
    what,
    values: {
      'ms to the first answer': median(runs.map(({ milliseconds }) => milliseconds)),
      'RSS MB at rest': (runs[0]?.rss ?? 0) / 1e6,
      'heap MB at rest': (runs[0]?.heapUsed ?? 0) / 1e6,
    },
  }));
  return { name: 'start', title: '8. Start and rest', rows };
}

async function startOnce(how: (port: string) => Start, rests: boolean): Promise<Started> {
  const port = await freePort();
  const startedMs = performance.now();
  const child = Child.start({ ...how(String(port)), nodeOptions: PROBE });
  while (!(await answers(port))) await new Promise((resolve) => setTimeout(resolve, 2));
  const milliseconds = performance.now() - startedMs;
  if (rests) await new Promise((resolve) => setTimeout(resolve, REST_MS));
  const { rss } = await child.usage();
  const { heapUsed } = await child.usage('memory');
  await child.stop('SIGKILL');
  return { milliseconds, rss, heapUsed };
}

/** Any status is an answer. */
function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.on('connect', () => socket.write(requestText('GET /health/live')));
    socket.on('error', () => resolve(false)).on('close', () => resolve(false));
    socket.on('data', () => {
      resolve(true);
      socket.destroy();
    });
  });
}
