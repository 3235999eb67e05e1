import type { Surface } from '../errors/error-body.js';
import type { Limit } from '../request/request-context.js';
import { CountRow, CountTable, OpenCounts } from './counts.js';
import {
  ADDRESS_SOURCES,
  AUTH_RESULTS,
  COLLECTOR_RESULTS,
  EVENT_RESULTS,
  FLUSH_RESULTS,
  LIMITS,
  REPRESENTED_RESULTS,
  SURFACES,
} from './labels.js';
import { TELEMETRY_KINDS } from './telemetry-event.js';

/** Everything that this instance counts, exact and since its start. Contract: "Metrics". */
export class MetricCounts {
  readonly refusals = new CountTable(LIMITS, SURFACES);
  readonly shadowRefusals = new CountTable(LIMITS, SURFACES);
  readonly admitted = new CountRow(SURFACES);
  readonly auth = new CountRow(AUTH_RESULTS);
  readonly clientIp = new CountRow(ADDRESS_SOURCES);
  readonly quotaFlushes = new CountRow(FLUSH_RESULTS);
  readonly upstream = new OpenCounts();
  readonly confirm = { preflight: new OpenCounts(), confirm: new OpenCounts() };
  readonly telemetryEvents = new CountTable(TELEMETRY_KINDS, EVENT_RESULTS);
  readonly represented = new CountRow(REPRESENTED_RESULTS);
  readonly collectorEvents = new CountRow(COLLECTOR_RESULTS);
  preauthOverflow = 0;

  /** The refusals of each layer, over all surfaces. */
  refusalTotals(): Record<Limit, number> {
    return totalsOf(this.refusals);
  }

  /** What each layer would have refused, had it been enforced, over all surfaces. */
  shadowRefusalTotals(): Record<Limit, number> {
    return totalsOf(this.shadowRefusals);
  }
}

function totalsOf(table: CountTable<Limit, Surface>): Record<Limit, number> {
  const totals = LIMITS.map((limit) => [limit, table.rowTotal(limit)] as const);
  return Object.fromEntries(totals) as Record<Limit, number>;
}
