import type { Clock } from '../clock/clock.js';
import type { Surface } from '../errors/error-body.js';
import type { Bookmarks } from '../request/bookmarks.js';
import { QuotaCounter } from './quota-counter.js';

/**
 * Counts as ever and refuses nothing: calls over the quota are counted too, so that what is used is the truth, and told
 * one by one. Decision 0022.
 */
export class ShadowQuotaCounter extends QuotaCounter {
  constructor(
    clock: Clock,
    limitOf: (tenant: string) => number,
    private readonly wouldRefuse: (surface: Surface) => void,
  ) {
    super(clock, limitOf);
  }

  override tryCount(tenant: string, surface: Surface = 'other', bookmarks?: Bookmarks): number {
    const utcDay = super.tryCount(tenant, surface, bookmarks);
    if (utcDay >= 0) return utcDay;
    this.wouldRefuse(surface);
    return this.count(tenant);
  }

  override isExhausted(): boolean {
    return false;
  }
}
