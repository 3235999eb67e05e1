import { Injectable } from '@nestjs/common';
import type { Surface } from '../errors/error-body.js';
import { MetricsService } from '../observability/metrics.service.js';
import { TelemetryService } from '../observability/telemetry.service.js';
import { acceptedIdentity, type Limit, type Refusal, type RequestContext } from '../request/request-context.js';

/** Counts and tells what the layers turned away: exactly in the metrics, sampled under a flood in the telemetry. */
@Injectable()
export class RefusalReportService {
  constructor(
    private readonly metrics: MetricsService,
    private readonly telemetry: TelemetryService,
  ) {}

  refused(context: RequestContext, refusal: Refusal): void {
    this.metrics.countRefusal(refusal.limit, context.surface);
    this.telemetry.refused(refusal.limit, context.surface, acceptedIdentity(context)?.tenant ?? null);
  }

  /** A layer that is only watched let a request through that it would have refused: that is counted, and no event. */
  wouldRefuse(limit: Limit, surface: Surface): void {
    this.metrics.countShadowRefusal(limit, surface);
  }

  overflowed(): void {
    this.metrics.countPreauthOverflow();
  }

  watch(read: () => Record<Exclude<Limit, 'quota'>, number>): void {
    this.metrics.gauge('tidb_mcp_buckets', read);
  }
}
