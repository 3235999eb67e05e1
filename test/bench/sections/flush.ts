import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FlushOrder, FlushResult } from '../flush-program.js';
import { median } from '../numbers.js';
import { Child } from '../processes.js';
import type { Row, Section } from '../report.js';

const MYSQL_URL = process.env['BENCH_MYSQL_URL'] ?? process.env['TEST_MYSQL_URL'];
const HOWS = ['product', 'row by row'] as const;

/** Target 7: one flush of many tenants, as the product does it and with one statement a row. */
export async function flush(quick: boolean): Promise<Section> {
  const sizes = quick ? [10_000] : [10_000, 100_000];
  const rounds = quick ? 1 : 5;
  const file = () => `sqlite:${join(mkdtempSync(join(tmpdir(), 'tidb-mcp-bench-')), 'control.db')}`;
  const databases = [
    { name: 'embedded file', url: file },
    ...(MYSQL_URL === undefined ? [] : [{ name: 'MariaDB', url: () => MYSQL_URL }]),
  ];
  const rows: Row[] = [];
  for (const { name, url } of databases) {
    for (const tenants of sizes) rows.push(...(await compare(`${name}, ${some(tenants)}`, tenants, url, rounds)));
  }
  const notes =
    MYSQL_URL === undefined ? ['MariaDB was skipped: neither BENCH_MYSQL_URL nor TEST_MYSQL_URL is set.'] : [];
  return { name: 'flush', title: '7. Flush', rows, notes };
}

const some = (tenants: number): string => `${tenants.toLocaleString('en-US')} tenants`;

async function compare(what: string, tenants: number, url: () => string, rounds: number): Promise<Row[]> {
  const results = new Map<string, FlushResult[]>(HOWS.map((how) => [how, []]));
  for (let round = 0; round < rounds; round += 1) {
    for (const how of HOWS) results.get(how)?.push(await ask({ url: url(), tenants, how }));
  }
  const middle = (how: string, of: (result: FlushResult) => number) => median((results.get(how) ?? []).map(of));
  const slow = middle('row by row', ({ milliseconds }) => milliseconds);
  return HOWS.map((how) => {
    const milliseconds = middle(how, (result) => result.milliseconds);
    const [{ statements, transactions } = { statements: 0, transactions: 0 }] = results.get(how) ?? [];
    const hold = middle(how, ({ longestHoldMs }) => longestHoldMs);
    const values = { ms: milliseconds, '× row by row': milliseconds / slow, statements, transactions };
    return { what: `${what}: ${how}`, values: { ...values, 'longest hold, CPU ms': hold } };
  });
}

async function ask(order: FlushOrder): Promise<FlushResult> {
  const child = Child.start({ file: 'flush-program.js', output: '/dev/stderr' });
  try {
    return await child.ask<FlushResult>(order);
  } finally {
    await child.stop('SIGKILL');
  }
}
