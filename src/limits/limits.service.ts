import { randomBytes } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { maxSharedIdentities, ProofService } from '../auth/proof.service.js';
import { CLOCK, type Clock } from '../clock/clock.js';
import { CONFIG, type Config } from '../config/config.js';
import { QuotaService } from '../quota/quota.service.js';
import type { Limit } from '../request/request-context.js';
import { Admission, type Layers } from './admission.js';
import { GlobalLayer } from './global-layer.js';
import { PreauthLayer } from './preauth-layer.js';
import { RefusalReportService } from './refusal-report.service.js';
import { TenantLayer } from './tenant-layer.js';
import { bucketRate } from './token-bucket.js';

/** The four layers as configured, behind the one {@link Admission}. */
@Injectable()
export class LimitsService {
  readonly admission: Admission;

  constructor(
    @Inject(CONFIG) config: Config,
    @Inject(CLOCK) clock: Clock,
    proof: ProofService,
    quota: QuotaService,
    report: RefusalReportService,
  ) {
    const layers = buildLayers(config, quota);
    proof.attachBuckets(layers.tenant);
    this.admission = new Admission(layers, {
      monotonicMs: () => clock.monotonicMs(),
      isProven: (identity) => proof.isProven(identity),
      refused: (context, refusal) => report.refused(context, refusal),
      overflowed: () => report.overflowed(),
    });
    report.watch(() => countBuckets(layers, clock.monotonicMs()));
  }
}

function buildLayers(config: Config, quota: QuotaService): Layers & { tenant: TenantLayer } {
  return {
    preauth: new PreauthLayer({
      address: bucketRate(config.preauthRps, config.preauthBurst),
      gateway: bucketRate(config.gatewayRps, config.gatewayBurst),
      maxKeys: config.preauthMaxKeys,
      secret: randomBytes(16).toString('hex'),
    }),
    tenant: new TenantLayer({
      rate: bucketRate(config.tenantRps, config.tenantBurst),
      maxProven: config.provenMax,
      maxShared: maxSharedIdentities(config),
    }),
    quota,
    global: new GlobalLayer(bucketRate(config.globalRps, config.globalBurst), config.globalUnprovenShare),
  };
}

function countBuckets(layers: Layers, nowMs: number): Record<Exclude<Limit, 'quota'>, number> {
  return { preauth: layers.preauth.count(nowMs), tenant: layers.tenant.count(nowMs), global: 1 };
}
