import { describe, expect, it } from 'vitest';
import type { MetricsService } from '../observability/metrics.service.js';
import type { TelemetryService } from '../observability/telemetry.service.js';
import type { Limit, RequestContext } from '../request/request-context.js';
import { RefusalReportService } from './refusal-report.service.js';

/** The tenant that the event of such a refusal names. */
function toldTenant(limit: Limit, proven: boolean): string | null | undefined {
  const told: (string | null)[] = [];
  const metrics = { countRefusal: () => undefined } as unknown as MetricsService;
  const telemetry = { refused: (_limit: Limit, _surface: string, tenant: string | null) => told.push(tenant) };
  const refusal = { limit, retryAfterSeconds: 1 };
  const context = { surface: 'v1', proven, identity: { tenant: 'subject' }, refusal } as unknown as RequestContext;
  const report = new RefusalReportService(metrics, telemetry as unknown as TelemetryService);
  report.refused(context, refusal);
  return told[0];
}

describe('The event of a refusal', () => {
  it('names whose it was where the credential was accepted, if only at this very door', () => {
    expect([toldTenant('tenant', false), toldTenant('quota', false), toldTenant('global', true)]).toEqual([
      'subject',
      'subject',
      'subject',
    ]);
  });

  it('names nobody where the credential was only presented', () => {
    expect([toldTenant('preauth', false), toldTenant('global', false)]).toEqual([null, null]);
  });
});
