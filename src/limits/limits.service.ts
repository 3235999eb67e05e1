import { Inject, Injectable } from '@nestjs/common';
import { ProofService } from '../auth/proof.service.js';
import { CLOCK, type Clock } from '../clock/clock.js';
import type { Identity } from '../request/credential.js';
import { Admission } from './admission.js';
import { LayersService } from './layers.service.js';
import type { Allowance } from './rate-limit-fields.js';
import { RefusalReportService } from './refusal-report.service.js';

/** The four layers behind the one {@link Admission}. */
@Injectable()
export class LimitsService {
  readonly admission: Admission;

  constructor(
    @Inject(CLOCK) private readonly clock: Clock,
    private readonly layers: LayersService,
    proof: ProofService,
    report: RefusalReportService,
  ) {
    proof.attachBuckets(layers.tenant);
    this.admission = new Admission(layers, {
      monotonicMs: () => clock.monotonicMs(),
      isProven: (identity, nowMs) => proof.isProven(identity, nowMs),
      refused: (context, refusal) => report.refused(context, refusal),
      overflowed: () => report.overflowed(),
    });
    report.watch(() => layers.countBuckets());
  }

  /** What a proven caller has left at the layers that are its own; charges nothing. */
  allowance(identity: Identity): Allowance {
    const { tenant, quota } = this.layers;
    return {
      tenant: tenant.level(identity, this.clock.monotonicMs()),
      quota: quota.allowance(identity.tenant),
    };
  }
}
