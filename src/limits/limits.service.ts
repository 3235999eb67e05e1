import { Inject, Injectable } from '@nestjs/common';
import { ProofService } from '../auth/proof.service.js';
import { CLOCK, type Clock } from '../clock/clock.js';
import { CONFIG, type Config } from '../config/config.js';
import type { Identity } from '../request/credential.js';
import { Admission, type AdmissionPorts } from './admission.js';
import { LayersService } from './layers.service.js';
import type { Allowance } from './rate-limit-fields.js';
import { RefusalReportService } from './refusal-report.service.js';
import { ShadowAdmission } from './shadow-admission.js';
import { WatchedTenantBuckets } from './watched-tenant-buckets.js';

/** The four layers behind the one {@link Admission}. */
@Injectable()
export class LimitsService {
  readonly admission: Admission;
  private readonly isTenantWatched: boolean;
  private readonly isQuotaWatched: boolean;

  constructor(
    @Inject(CONFIG) private readonly config: Config,
    @Inject(CLOCK) private readonly clock: Clock,
    private readonly layers: LayersService,
    proof: ProofService,
    report: RefusalReportService,
  ) {
    this.isTenantWatched = config.shadow.includes('tenant');
    this.isQuotaWatched = config.shadow.includes('quota');
    proof.attachBuckets(this.isTenantWatched ? watchedBuckets(layers, report) : layers.tenant);
    const ports: AdmissionPorts = {
      monotonicMs: () => clock.monotonicMs(),
      isProven: (identity, nowMs) => proof.isProven(identity, nowMs),
      refused: (context, refusal) => report.refused(context, refusal),
      overflowed: () => report.overflowed(),
    };
    this.admission = config.shadow.length === 0 ? new Admission(layers, ports) : this.shadowed(ports, report);
    report.watch(() => layers.countBuckets());
  }

  /** What a proven caller has left at the layers that are its own and enforced; charges nothing. */
  allowance(identity: Identity): Allowance {
    const { tenant, quota } = this.layers;
    return {
      tenant: this.isTenantWatched ? undefined : tenant.level(identity, this.clock.monotonicMs()),
      quota: this.isQuotaWatched ? undefined : quota.allowance(identity.tenant),
    };
  }

  private shadowed(ports: AdmissionPorts, report: RefusalReportService): ShadowAdmission {
    return new ShadowAdmission(this.layers, ports, {
      limits: new Set(this.config.shadow),
      watchedPreauth: this.layers.watchedPreauth,
      wouldRefuse: (limit, { surface }) => report.wouldRefuse(limit, surface),
    });
  }
}

function watchedBuckets({ tenant }: LayersService, report: RefusalReportService): WatchedTenantBuckets {
  return new WatchedTenantBuckets(tenant, (surface) => report.wouldRefuse('tenant', surface));
}
