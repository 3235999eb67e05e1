import { randomBytes } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { maxSharedIdentities } from '../auth/proof.service.js';
import { CLOCK, type Clock } from '../clock/clock.js';
import { CONFIG, type Config } from '../config/config.js';
import { QuotaService } from '../quota/quota.service.js';
import type { Limit } from '../request/request-context.js';
import type { TenantLimit } from '../tenant-limits/tenant-limits.js';
import { TenantLimitsService } from '../tenant-limits/tenant-limits.service.js';
import type { Layers } from './admission.js';
import { GlobalLayer } from './global-layer.js';
import { PreauthLayer } from './preauth-layer.js';
import { TenantLayer } from './tenant-layer.js';
import { type BucketRate, bucketRate } from './token-bucket.js';

/** The four layers as configured. */
@Injectable()
export class LayersService implements Layers {
  readonly preauth: PreauthLayer;
  /** What pre-auth would be if it were enforced, where it is only watched. */
  readonly watchedPreauth: PreauthLayer | undefined;
  readonly tenant: TenantLayer;
  readonly global: GlobalLayer;
  /** A limit that stays the same stays the same object, so its rate is worked out once. */
  private readonly rates = new WeakMap<TenantLimit, BucketRate>();

  constructor(
    @Inject(CONFIG) private readonly config: Config,
    @Inject(CLOCK) private readonly clock: Clock,
    readonly quota: QuotaService,
    private readonly tenantLimits: TenantLimitsService,
  ) {
    const isWatched = config.shadow.includes('preauth');
    const address = bucketRate(config.preauthRps, config.preauthBurst);
    this.preauth = preauthLayer(config, isWatched ? largerRate(config) : address);
    this.watchedPreauth = isWatched ? preauthLayer(config, address) : undefined;
    this.tenant = new TenantLayer({
      rate: bucketRate(config.tenantRps, config.tenantBurst),
      rateOf: (tenant) => this.ownRate(tenant),
      maxProven: config.provenMax,
      maxShared: maxSharedIdentities(config),
    });
    this.global = new GlobalLayer(bucketRate(config.globalRps, config.globalBurst), config.globalUnprovenShare);
  }

  /** Buckets that hold something back now, by layer. */
  countBuckets(): Record<Exclude<Limit, 'quota'>, number> {
    const nowMs = this.clock.monotonicMs();
    return { preauth: this.preauth.count(nowMs), tenant: this.tenant.count(nowMs), global: 1 };
  }

  private ownRate(tenant: string): BucketRate | undefined {
    const limit = this.tenantLimits.limits.of(tenant);
    if (limit === undefined) return undefined;
    const known = this.rates.get(limit);
    if (known !== undefined) return known;
    const { tenantRps, tenantBurst } = this.config;
    const rate = bucketRate(limit.requestsPerSecond ?? tenantRps, limit.burst ?? tenantBurst);
    this.rates.set(limit, rate);
    return rate;
  }
}

function preauthLayer(config: Config, address: BucketRate): PreauthLayer {
  return new PreauthLayer({
    address,
    gateway: bucketRate(config.gatewayRps, config.gatewayBurst),
    maxKeys: config.preauthMaxKeys,
    secret: randomBytes(16).toString('hex'),
  });
}

/** What an address has while pre-auth is watched: never less than when it is enforced. Decision 0022. */
function largerRate({ preauthRps, preauthBurst, gatewayRps, gatewayBurst }: Config): BucketRate {
  return bucketRate(Math.max(preauthRps, gatewayRps), Math.max(preauthBurst, gatewayBurst));
}
