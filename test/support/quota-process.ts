import { call, startQuota, tenantName } from './quota-app.js';

/** One instance in a process of its own: counts calls, flushing after each few of them, and prints how many it made. */
export async function main([url, rounds]: string[]): Promise<void> {
  const app = await startQuota({ url: url ?? '', dailyQuota: 1_000_000 });
  let admitted = 0;
  let failed = 0;
  for (let round = 0; round < Number(rounds); round += 1) {
    for (let tenant = 0; tenant < 50; tenant += 1) admitted += call(app, tenantName(tenant), 2);
    await app.flusher.flush().catch(() => (failed += 1));
  }
  await app.stop();
  process.stdout.write(`${JSON.stringify({ admitted, failed })}\n`);
}
