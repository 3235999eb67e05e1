import type { Limit } from '../request/request-context.js';
import type { ClientReport } from './client-report.js';
import type { HistoryReport } from './history.js';
import type { UpstreamReport } from './upstream-report.js';

/** A bucket's rate and burst. */
export interface BucketReport {
  readonly requestsPerSecond: number;
  readonly burst: number;
}

/** One tenant's day, as a bar. */
export interface TenantReport {
  /** The first 12 hex digits of the fingerprint. */
  readonly tenant: string;
  readonly used: number;
  readonly limit: number;
}

/** The limits in force for whoever has none of their own. */
export interface LimitsReport {
  readonly preauth: BucketReport;
  readonly gateway: BucketReport;
  readonly tenant: BucketReport;
  readonly callsPerUtcDay: number;
  readonly global: BucketReport;
  readonly globalUnprovenShare: number;
  /** Layers that are watched and not enforced. */
  readonly shadow: readonly Limit[];
}

/**
 * What the console's page shows: this instance's numbers but for `quota.tenants`, `quota.liveInstances` and `limits`. No
 * credential, no address; of a fingerprint its first 12 digits.
 */
export interface ConsoleReport {
  /** When it was rendered, ISO 8601. */
  readonly at: string;
  readonly instance: { readonly id: string; readonly upSeconds: number; readonly shuttingDown: boolean };
  /** Since this instance started. */
  readonly totals: {
    readonly refused: Record<Limit, number>;
    /** What layers in shadow mode would have refused. */
    readonly shadowRefused: Record<Limit, number>;
    readonly admitted: number;
  };
  readonly history: HistoryReport;
  readonly provenCredentials: number;
  readonly provenMax: number;
  readonly clients: ClientReport;
  readonly upstream: UpstreamReport;
  readonly quota: {
    readonly degraded: boolean;
    readonly connected: boolean;
    /** Null before the first flush of this instance. */
    readonly secondsSinceFlush: number | null;
    readonly flushIntervalSeconds: number;
    readonly flushes: Readonly<Record<string, number>>;
    readonly resetsAt: string;
    readonly liveInstances: number;
    /** Tenants with calls today that this instance knows of. */
    readonly tenantsToday: number;
    /** Those nearest to their quota, the nearest first. */
    readonly tenants: TenantReport[];
  };
  readonly limits: LimitsReport;
}
