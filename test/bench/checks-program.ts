// What a check costs in process, on a core of its own: asked for one contender at a time over IPC.
import 'reflect-metadata';
import { createHook } from 'node:async_hooks';
import { createRequire } from 'node:module';
import { ThrottlerStorageService } from '@nestjs/throttler';
import { MemoryStore, type Options } from 'express-rate-limit';
import { RateLimiterMemory } from 'rate-limiter-flexible';
import { ProofService } from '../../src/auth/proof.service.js';
import { configOf } from '../../src/config/parse-config.js';
import { HttpRequestContext } from '../../src/http/http-request-context.js';
import { BucketStore } from '../../src/limits/bucket-store.js';
import { LimitsService } from '../../src/limits/limits.service.js';
import { bucketRate } from '../../src/limits/token-bucket.js';
import type { ClientAddress, Limit } from '../../src/request/request-context.js';
import { runServer } from '../../src/serve.js';
import { UNLIMITED } from './unlimited.js';

/** What is asked: one contender, over so many keys. */
export interface CheckOrder {
  readonly what: keyof typeof CONTENDERS;
  readonly keys: number;
  /** How many checks are timed; 0 where only memory is wanted. */
  readonly checks: number;
}

/** What came of it. */
export interface CheckResult {
  readonly nanoseconds: number;
  readonly bytesPerKey: number;
  /** Timers and promises that were made in 1,000 checks. */
  readonly timers: number;
  readonly promises: number;
}

type Check = (key: string, now: number) => unknown;
const DAY_MS = 86_400_000;
const PLENTY = 1_000_000_000;

interface LocalStore {
  incr(key: string, done: (error: unknown, value: unknown) => void, windowMs: number, max: number): void;
}
const LocalStore = createRequire(import.meta.url)('@fastify/rate-limit/store/LocalStore.js') as new (
  continueExceeding: boolean,
  exponentialBackoff: boolean,
  cache: number,
) => LocalStore;

/** Each makes its check; the key is what an address or a fingerprint is to it. */
const CONTENDERS = {
  'Map.get': (keys: number): Check => {
    const map = new Map<string, number>();
    for (let n = 0; n < keys; n += 1) map.set(addressOf(n), n);
    return (key) => map.get(key);
  },
  'product: one bucket': (keys: number): Check => {
    const store = new BucketStore(bucketRate(0.001, PLENTY), Math.max(keys, 1024));
    return (key, now) => (store.wait(key, now) === 0 ? store.take(key, now) : 0);
  },
  'product: four layers and the identity': productCheck,
  'rate-limiter-flexible': (): Check => {
    const limiter = new RateLimiterMemory({ points: PLENTY, duration: DAY_MS / 1000 });
    return (key) => limiter.consume(key);
  },
  '@nestjs/throttler, stock storage': (): Check => {
    const storage = new ThrottlerStorageService();
    return (key) => storage.increment(key, DAY_MS, PLENTY, 0, 'default');
  },
  'express-rate-limit, memory store': (): Check => {
    const store = new MemoryStore();
    store.init({ windowMs: DAY_MS } as Options);
    return (key) => store.increment(key);
  },
  '@fastify/rate-limit, local store': (keys: number): Check => {
    const store = new LocalStore(false, false, Math.max(keys, 5000));
    return (key) => store.incr(key, () => {}, DAY_MS, PLENTY);
  },
} satisfies Record<string, (keys: number) => Check | Promise<Check>>;

/** What tells whether a check is the product's own, with clock and all. */
const ORDER: readonly Limit[] = ['preauth', 'tenant', 'quota', 'global'];

async function productCheck(keys: number): Promise<Check> {
  const config = configOf({
    ...UNLIMITED,
    // Buckets that stay, as those of busy tenants do, and are never empty.
    TIDB_MCP_TENANT_RPS: '1000',
    TIDB_MCP_PORT: '0',
    TIDB_MCP_CONTROL_DB_URL: 'sqlite::memory:',
    TIDB_MCP_TELEMETRY: 'off',
    TIDB_MCP_LOG_LEVEL: 'silent',
    TIDB_MCP_PROVEN_MAX: String(keys + 1),
  });
  const { app } = await runServer(config);
  const proof = app.get(ProofService, { strict: false });
  const { admission } = app.get(LimitsService, { strict: false });
  const client: ClientAddress = {
    address: '192.0.2.1',
    key: '192.0.2.1',
    network: '192.0.2.0/24',
    source: 'socket',
    gateway: undefined,
  };
  const identify = (key: string) =>
    proof.identify({ rawHeaders: ['Authorization', `Bearer ${key}:secret`] }, true, client.key);
  for (let n = 0; n < keys; n += 1) {
    const identity = identify(addressOf(n));
    if (identity !== undefined) proof.prove({ identity, session: { credential: identity.credential } });
  }
  const response = {} as unknown as ConstructorParameters<typeof HttpRequestContext>[4];
  return (key) => {
    const context = new HttpRequestContext('v1', client, identify(key), { headers: {} }, response);
    context.call = true;
    for (const limit of ORDER) admission.pass(limit, context);
    if (context.stage !== 'admitted') throw new Error('A check that was to be admitted was refused.');
  };
}

function addressOf(n: number): string {
  return `${10 + (n >> 24)}.${(n >> 16) & 255}.${(n >> 8) & 255}.${n & 255}`;
}

/** The same keys in an order that no cache foresees, as texts that were not seen before: a request brings its own. */
function keysInDisorder(keys: number, count: number): string[] {
  let seed = 12_345;
  return Array.from({ length: count }, () => {
    seed = (seed * 1_103_515_245 + 12_345) & 0x7f_ff_ff_ff;
    return Buffer.from(addressOf(seed % keys)).toString('latin1');
  });
}

async function memory(): Promise<number> {
  await new Promise((resolve) => setImmediate(resolve));
  for (let i = 0; i < 3; i += 1) (globalThis as { gc?: () => void }).gc?.();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

function cpuNanoseconds(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) * 1000;
}

async function measure({ what, keys, checks }: CheckOrder): Promise<CheckResult> {
  const before = await memory();
  const check = await CONTENDERS[what](keys);
  for (let n = 0; n < keys; n += 1) await fill(check, n);
  const bytesPerKey = (await memory()) - before;
  if (checks === 0) return { nanoseconds: Number.NaN, bytesPerKey: bytesPerKey / keys, timers: 0, promises: 0 };
  const round = keysInDisorder(keys, checks);
  const rounds: number[] = [];
  for (let n = 0; n < 7; n += 1) rounds.push(await timed(check, round));
  const { timers, promises } = await countAsync(check, round.slice(0, 1000));
  rounds.sort((a, b) => a - b);
  return { nanoseconds: rounds[3]! / checks, bytesPerKey: bytesPerKey / keys, timers, promises };
}

async function fill(check: Check, n: number): Promise<void> {
  check(addressOf(n), performance.now());
  if (n % 1000 === 0) await new Promise((resolve) => setImmediate(resolve));
}

/** The clock is read for every check, as in production; what was promised is waited for within the time. */
async function timed(check: Check, keys: readonly string[]): Promise<number> {
  let last: unknown;
  const spent = cpuNanoseconds(() => {
    for (const key of keys) last = check(key, performance.now());
  });
  const waiting = process.cpuUsage();
  await last;
  const { user, system } = process.cpuUsage(waiting);
  return spent + (user + system) * 1000;
}

async function countAsync(check: Check, keys: readonly string[]): Promise<{ timers: number; promises: number }> {
  const made: Record<string, number> = {};
  const hook = createHook({ init: (_id, type) => void (made[type] = (made[type] ?? 0) + 1) }).enable();
  for (const key of keys) check(key, performance.now());
  hook.disable();
  await new Promise((resolve) => setImmediate(resolve));
  return { timers: (made['Timeout'] ?? 0) + (made['Timer'] ?? 0), promises: made['PROMISE'] ?? 0 };
}

process.on('message', (order: CheckOrder) => {
  measure(order).then(
    (result) => process.send?.(result),
    (error: unknown) => {
      process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`);
      process.exit(1);
    },
  );
});
