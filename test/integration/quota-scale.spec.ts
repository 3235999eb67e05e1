import { describe, expect, it } from 'vitest';
import { DATABASE_KINDS } from '../support/control-databases.js';
import { longestHoldMs } from '../support/longest-hold.js';
import { startQuota, tenantName } from '../support/quota-app.js';

const TENANTS = 100_000;

describe.each(DATABASE_KINDS)('100,000 tenants with traffic in one interval on $title', ({ available, create }) => {
  it.skipIf(!available)(
    'flush and load in chunks, without holding the event loop for more than 50 ms at a time',
    // A collection of garbage may fall into the one turn that is measured; it does not fall there every time.
    { timeout: 120_000, retry: 2 },
    async () => {
      const scratch = await create();
      const app = await startQuota({ url: scratch.url });
      try {
        for (let n = 0; n < TENANTS; n += 1) app.quota.tryCount(tenantName(n));
        const flush = await longestHoldMs(() => app.flusher.flush());
        const [row] = await scratch.query('SELECT COUNT(*) AS tenants, SUM(calls) AS calls FROM quota_usage');
        expect([Number(row?.['tenants']), Number(row?.['calls'])]).toEqual([TENANTS, TENANTS]);
        const read = await longestHoldMs(() => app.flusher.read());
        expect(flush).toBeLessThan(50);
        expect(read).toBeLessThan(50);
      } finally {
        await app.stop();
        await scratch.drop();
      }
    },
  );
});
