import { Inject, Injectable } from '@nestjs/common';
import { CLOCK, type Clock } from '../clock/clock.js';
import type { Surface } from '../errors/error-body.js';
import type { Bookmarks } from '../request/bookmarks.js';
import { QuotaCounter } from './quota-counter.js';
import { QuotaFlusher } from './quota-flusher.js';
import { QUOTA_LIMITS, type QuotaLimits } from './quota-limits.js';
import { QuotaPersistenceService } from './quota-persistence.service.js';
import { secondsToReset, utcDayEndMs, utcDayOf } from './utc-day.js';

/** What a caller may know of a tenant's day. Contract: `tidb_capabilities`. */
export interface QuotaStatus {
  readonly callsPerUtcDay: number;
  readonly flushIntervalSeconds: number;
  readonly used: number;
  readonly remaining: number;
  /** ISO 8601, the next UTC midnight. */
  readonly resetsAt: string;
  readonly persistenceDegraded: boolean;
  /** Whether the quota is watched and not enforced. */
  readonly shadowed: boolean;
}

/** The daily quota, for the layers and for whoever reports on it; answers from memory, never from the database. */
@Injectable()
export class QuotaService {
  /** When the day ends, as text: every report says it, and writing it takes longer than the rest of one. */
  private resets = { utcDay: Number.NaN, at: '' };

  constructor(
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(QUOTA_LIMITS) private readonly limits: QuotaLimits,
    private readonly counter: QuotaCounter,
    private readonly flusher: QuotaFlusher,
    private readonly persistence: QuotaPersistenceService,
  ) {}

  /**
   * Counts one call of a tenant on today's UTC day.
   * @param surface where it came in, for a quota that is watched and not enforced
   * @param bookmarks of whoever calls
   * @returns that day, in days since the epoch, or -1 when the day's quota is used up
   */
  tryCount(tenant: string, surface?: Surface, bookmarks?: Bookmarks): number {
    return this.counter.tryCount(tenant, surface, bookmarks);
  }

  /** Gives back a call that was counted on `utcDay`, because a later layer refused it. */
  uncount(tenant: string, utcDay: number): void {
    this.counter.uncount(tenant, utcDay);
  }

  /** Whether the tenant's quota of the day is used up. */
  isExhausted(tenant: string): boolean {
    return this.counter.isExhausted(tenant);
  }

  /** Calls per UTC day of the tenant, how many of them are left, and whole seconds until they are whole again. */
  allowance(tenant: string): { callsPerUtcDay: number; remaining: number; secondsToReset: number } {
    const utcMs = this.clock.utcMs();
    const callsPerUtcDay = this.limits.limitOf(tenant);
    const remaining = Math.max(0, callsPerUtcDay - this.counter.used(tenant, utcMs));
    return { callsPerUtcDay, remaining, secondsToReset: secondsToReset(utcMs) };
  }

  /** Whole seconds, at least 1, to the next UTC midnight. */
  secondsToReset(): number {
    return secondsToReset(this.clock.utcMs());
  }

  /** The quota as it stands; without a tenant, as for one who has not called yet. */
  status(tenant: string | undefined): QuotaStatus {
    const utcMs = this.clock.utcMs();
    const callsPerUtcDay = this.limits.limitOf(tenant);
    const used = tenant === undefined ? 0 : this.counter.used(tenant, utcMs);
    return {
      callsPerUtcDay,
      flushIntervalSeconds: this.limits.flushIntervalSeconds,
      used,
      remaining: Math.max(0, callsPerUtcDay - used),
      resetsAt: this.resetsAt(utcMs),
      persistenceDegraded: this.persistence.isDegraded,
      shadowed: this.limits.shadowed,
    };
  }

  private resetsAt(utcMs: number): string {
    const utcDay = utcDayOf(utcMs);
    if (utcDay !== this.resets.utcDay) this.resets = { utcDay, at: new Date(utcDayEndMs(utcDay)).toISOString() };
    return this.resets.at;
  }

  /** Instances that share the quota, this one included, as last known. */
  liveInstances(): number {
    return this.flusher.liveInstances;
  }

  /** The name of this run in the control database. */
  instanceId(): string {
    return this.flusher.instanceId;
  }

  /** Told of every accepted credential: where memory may lack its total, that is read in the background. */
  noteAccepted(tenant: string): void {
    this.counter.noteAccepted(tenant);
  }
}
