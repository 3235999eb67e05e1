import { QuotaCounter } from '../../src/quota/quota-counter.js';
import { utcDayOf } from '../../src/quota/utc-day.js';
import { ManualClock } from './manual-clock.js';

/** A tenant. */
export const T = 'a'.repeat(64);
/** A UTC midnight. */
export const MIDNIGHT = Date.UTC(2026, 10, 30);
/** The day before it. */
export const TODAY = utcDayOf(MIDNIGHT) - 1;

/** A counter under a clock that the test moves, with what it told whoever talks to the database. */
export function counterAt(utcMs: number, limit = 5, rows = 200_000) {
  const clock = new ManualClock(utcMs);
  const counter = new QuotaCounter(clock, () => limit, { rows, pastDays: 4 });
  const told: string[] = [];
  counter.listen({
    dayOpened: (day) => told.push(`day ${day}`),
    rowLacking: (tenant) => told.push(`lacking ${tenant.slice(0, 2)}`),
    earlyWanted: () => told.push('early'),
  });
  const call = (times: number, tenant = T) => Array.from({ length: times }, () => counter.tryCount(tenant));
  const admitted = (times: number, tenant = T) => call(times, tenant).filter((day) => day >= 0).length;
  const store = () => {
    counter.outbox.seal();
    const rowsSent = counter.outbox.take(1_000);
    const sent = rowsSent.map((row) => ({ tenant: row.tenant, utcDay: row.utcDay, calls: row.inFlight }));
    counter.outbox.settleStored(rowsSent);
    return sent;
  };
  return { clock, counter, told, call, admitted, store };
}
