import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { DATABASE_KINDS } from '../support/control-databases.js';

const RUNNER = fileURLToPath(new URL('../support/run-ts.mjs', import.meta.url));
const MODULE = fileURLToPath(new URL('../support/quota-process.ts', import.meta.url));

describe.each(DATABASE_KINDS)('two processes on one database, $title', ({ available, create }) => {
  it.skipIf(!available)(
    'share the quota: none of them fails, and what is stored is what both admitted',
    { timeout: 60_000 },
    async () => {
      const scratch = await create();
      try {
        const run = () => promisify(execFile)(process.execPath, [RUNNER, MODULE, scratch.url, '30']);
        const outputs = await Promise.all([run(), run()]);
        const results = outputs.map(({ stdout }) => JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as unknown);
        expect(results).toEqual([
          { admitted: 3_000, failed: 0 },
          { admitted: 3_000, failed: 0 },
        ]);
        const [row] = await scratch.query('SELECT SUM(calls) AS calls FROM quota_usage');
        expect(Number(row?.['calls'])).toBe(6_000);
      } finally {
        await scratch.drop();
      }
    },
  );
});
