import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { type Sandbox, startSandbox } from '../../src/sandbox/sandbox.adapter.js';
import { ask } from '../support/test-server.js';
import { addresses, freeRides, heldSockets, oddBytes, oddMessages, statusOf, type Target } from './attackers.js';
import { Program } from './program.js';

/** How long and how hard. */
export interface SiegeOptions {
  readonly seconds: number;
  readonly seed: number;
  /** Connections that are only held. */
  readonly sockets: number;
}

/** What a siege came to; `failures` is empty where everything held. */
export interface SiegeReport {
  readonly failures: readonly string[];
  readonly answers: Readonly<Record<string, number>>;
  /** Calls of the tenant that behaves, by status. */
  readonly tenant: Readonly<Record<string, number>>;
  readonly heldSockets: number;
  /** Resident memory in MiB, sample by sample. */
  readonly memoryMib: readonly number[];
  readonly refusals: number;
}

const TENANT = { publicKey: 'GOODTENANT', privateKey: 'good-tenant-private' };
const ATTACKER = { publicKey: 'BADTENANT', privateKey: 'bad-tenant-private' };
const ADMIN_TOKEN = 'admin-token-of-the-operator';
/** Memory may grow by so much after the first third, in which pools and caches fill. */
const GROWTH_MIB = 96;

/** Attacks `serve` in every way at once, while a tenant calls as it should and TiDB Cloud fails now and then. */
export async function siege({ seconds, seed, sockets }: SiegeOptions): Promise<SiegeReport> {
  const folder = mkdtempSync(join(tmpdir(), 'siege-'));
  const telemetry = join(folder, 'telemetry.jsonl');
  const sandbox = await startSandbox({ keys: [TENANT, ATTACKER], rateLimitPerMinute: 1_000_000 });
  const program = await Program.start({
    TIDB_MCP_TELEMETRY: `file:${telemetry}`,
    TIDB_MCP_CONTROL_DB_URL: `sqlite:${join(folder, 'control.db')}`,
    TIDB_MCP_QUOTA_FLUSH_SECONDS: '2',
    TIDB_MCP_TRUSTED_PROXY_DEPTH: '1',
    TIDB_MCP_GLOBAL_UNPROVEN_SHARE: '0.5',
    TIDB_MCP_DAILY_QUOTA: '1000000',
    TIDB_MCP_ADMIN_TOKEN: ADMIN_TOKEN,
    TIDB_MCP_UPSTREAM_TIMEOUT_MS: '1000',
    TIDB_MCP_SERVERLESS_API_URL: sandbox.serverlessUrl,
    TIDB_MCP_IAM_API_URL: sandbox.iamUrl,
  });
  try {
    const answers: Record<string, number> = {};
    const stop = AbortSignal.timeout(seconds * 1000);
    const credential = `${ATTACKER.publicKey}:${ATTACKER.privateKey}`;
    const answered = (status: number): void => void (answers[status] = (answers[status] ?? 0) + 1);
    const target: Target = { url: program.url, port: program.port, seed, credential, signal: stop, answered };
    const [tenant, memoryMib, held] = await Promise.all([
      callAsTenant(program, stop),
      watchMemory(program, stop),
      heldSockets(target, sockets),
      failUpstream(sandbox, stop),
      oddBytes(target),
      oddMessages(target),
      addresses(target),
      addresses({ ...target, seed: seed + 77 }),
      freeRides(target),
    ]);
    await pause(1500);
    const refusals = await countRefusals(program);
    const exit = await program.stop();
    const failures = [
      ...(exit === 0 ? [] : [`the process ended with ${exit}`]),
      ...badTenantCalls(tenant),
      ...faults(program.output, answers),
      ...growth(memoryMib),
      ...sums(refusals, readFileSync(telemetry, 'utf8')),
    ];
    return { failures, answers, tenant, heldSockets: held, memoryMib, refusals: refusals.total };
  } finally {
    await program.stop();
    await sandbox.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Four calls a second of a tenant that keeps to its rate, from an address of its own. */
async function callAsTenant({ url }: Program, signal: AbortSignal): Promise<Record<string, number>> {
  const statuses: Record<string, number> = {};
  const headers = {
    authorization: `Bearer ${TENANT.publicKey}:${TENANT.privateKey}`,
    'x-forwarded-for': '203.0.113.7',
  };
  while (!signal.aborted) {
    const status = await statusOf(`${url}/v1/capabilities`, { headers });
    statuses[status] = (statuses[status] ?? 0) + 1;
    await pause(250);
  }
  return statuses;
}

async function watchMemory({ child }: Program, signal: AbortSignal): Promise<number[]> {
  const samples: number[] = [];
  while (!signal.aborted) {
    const status = readFileSync(`/proc/${child.pid}/status`, 'utf8');
    samples.push(Math.round(Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024));
    await pause(1000);
  }
  return samples;
}

/** TiDB Cloud is well for three seconds and then ill for one, each time in another way. */
async function failUpstream(sandbox: Sandbox, signal: AbortSignal): Promise<void> {
  const faults = ['outage', 'hang', 'reset', 'garbage'] as const;
  for (let i = 0; !signal.aborted; i += 1) {
    await pause(3000);
    const fault = faults[i % faults.length]!;
    sandbox[fault] = true;
    await pause(1000);
    sandbox[fault] = false;
  }
}

interface Refusals {
  readonly total: number;
  readonly represented: number;
}

async function countRefusals({ url }: Program): Promise<Refusals> {
  const headers = { authorization: `Bearer ${ADMIN_TOKEN}`, accept: 'application/json' };
  const { refusals, telemetryRepresented: told } = (await ask(`${url}/metrics`, { headers })).json();
  const total = Object.values(refusals as Record<string, number>).reduce((sum, count) => sum + count, 0);
  return { total, represented: told.sent + told.dropped };
}

function badTenantCalls(statuses: Record<string, number>): string[] {
  const bad = Object.keys(statuses).filter((status) => status !== '200');
  return bad.length === 0 && (statuses['200'] ?? 0) > 0
    ? []
    : [`the tenant was not served: ${JSON.stringify(statuses)}`];
}

function faults(output: string, answers: Record<string, number>): string[] {
  const lines = output.split('\n').filter((line) => /"level":"(error|fatal)"|unhandled|uncaught/i.test(line));
  const ours = answers['500'] === undefined ? [] : [`${answers['500']} answers were 500`];
  return [...ours, ...lines.slice(0, 3).map((line) => `the log has: ${line.slice(0, 500)}`)];
}

function growth(samples: readonly number[]): string[] {
  const third = Math.floor(samples.length / 3);
  const early = Math.max(...samples.slice(0, third + 1));
  const late = samples.at(-1) ?? 0;
  return late - early <= GROWTH_MIB ? [] : [`memory grew from ${early} to ${late} MiB`];
}

function sums({ total, represented }: Refusals, telemetry: string): string[] {
  const lines = telemetry.trim().split('\n');
  const told = lines.reduce((sum, line) => {
    const { representsCount = 0 } = JSON.parse(line) as { representsCount?: number };
    return sum + representsCount;
  }, 0);
  const equal = total === represented && total === told;
  return equal ? [] : [`refusals: ${total} in the metrics, ${represented} represented, ${told} in the events`];
}
