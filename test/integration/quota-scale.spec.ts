import { describe, expect, it } from 'vitest';
import { DATABASE_KINDS } from '../support/control-databases.js';
import { longestShare } from '../support/longest-hold.js';
import { startQuota, tenantName } from '../support/quota-app.js';

const TENANTS = 100_000;

describe.each(DATABASE_KINDS)('100,000 tenants with traffic in one interval on $title', ({ available, create }) => {
  it.skipIf(!available)(
    'flush and load in chunks, each a small part of the work, so that nobody is held up for long',
    { timeout: 120_000 },
    async () => {
      const scratch = await create();
      const app = await startQuota({ url: scratch.url });
      try {
        for (let n = 0; n < TENANTS; n += 1) app.quota.tryCount(tenantName(n));
        const flush = await longestShare(() => app.flusher.flush());
        const [row] = await scratch.query('SELECT COUNT(*) AS tenants, SUM(calls) AS calls FROM quota_usage');
        expect([Number(row?.['tenants']), Number(row?.['calls'])]).toEqual([TENANTS, TENANTS]);
        const read = await longestShare(() => app.flusher.read());
        expect(flush).toBeLessThan(0.5);
        expect(read).toBeLessThan(0.5);
      } finally {
        await app.stop();
        await scratch.drop();
      }
    },
  );
});
