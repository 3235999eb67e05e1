import type { CheckOrder, CheckResult } from '../checks-program.js';
import { Child } from '../processes.js';
import type { Row, Section } from '../report.js';

const FOUR = 'product: four layers and the identity';
const STOCK = [
  '@fastify/rate-limit, local store',
  'express-rate-limit, memory store',
  'rate-limiter-flexible',
  '@nestjs/throttler, stock storage',
] as const;

/** Target 3: what a check costs in process, in time and in memory. Each contender has a process of its own. */
export async function checks(quick: boolean): Promise<Section> {
  const count = quick ? 50_000 : 100_000;
  const many = quick ? 100_000 : 1_000_000;
  const all: Row[] = [];
  for (const keys of [1, 10_000]) {
    const { nanoseconds: ns, timers, promises } = await ask({ what: FOUR, keys, checks: count });
    const values = { ns, 'timers / 1,000': timers, 'promises / 1,000': promises };
    all.push({ what: `${FOUR}, ${some(keys)}`, values, target: { column: 'ns', most: 1000 } });
  }
  const map = await ask({ what: 'Map.get', keys: many, checks: count });
  const bucket = await ask({ what: 'product: one bucket', keys: many, checks: count });
  all.push(row(`bare Map.get, ${some(many)}`, map));
  const ratio = bucket.nanoseconds / map.nanoseconds;
  const values = { ...row('', bucket).values, '× Map.get': ratio };
  all.push({ what: `product: one bucket, ${some(many)}`, values, target: { column: '× Map.get', most: 2.5 } });
  all.push(row(`product: one bucket, ${some(many)}, memory`, bucket, { column: 'bytes a key', most: 100 }));
  all.push(
    row('product: one bucket, 10,000 keys', await ask({ what: 'product: one bucket', keys: 10_000, checks: count })),
  );
  for (const what of STOCK)
    all.push(row(`${what}, 10,000 keys`, await ask({ what, keys: 10_000, checks: count / 10 })));
  return { name: 'checks', title: '3. A check in process', rows: all };
}

const some = (keys: number): string => (keys === 1 ? '1 key' : `${keys.toLocaleString('en-US')} keys`);

async function ask(order: CheckOrder): Promise<CheckResult> {
  const nodeOptions = ['--expose-gc', '--max-old-space-size=4096'];
  const child = Child.start({ file: 'checks-program.js', nodeOptions, output: '/dev/stderr' });
  try {
    return await child.ask<CheckResult>(order);
  } finally {
    await child.stop('SIGKILL');
  }
}

function row(what: string, result: CheckResult, target?: Row['target']): Row {
  const { nanoseconds, bytesPerKey, timers, promises } = result;
  const values = {
    ns: nanoseconds,
    'bytes a key': bytesPerKey,
    'timers / 1,000': timers,
    'promises / 1,000': promises,
  };
  return { what, values, target };
}
