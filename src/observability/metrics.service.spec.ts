import { describe, expect, it } from 'vitest';
import { MetricsService } from './metrics.service.js';

function start() {
  const clock = { nowMs: 0, monotonicMs: () => clock.nowMs, utcMs: () => 0 };
  return { clock, metrics: new MetricsService(clock) };
}

describe('the metrics', () => {
  it('count refusals exactly, by layer and surface', async () => {
    const { metrics } = start();
    for (let refusal = 0; refusal < 12_345; refusal += 1) metrics.countRefusal('preauth', 'other');
    metrics.countRefusal('quota', 'v1');
    expect(metrics.snapshot().refusals).toEqual({ preauth: 12_345, tenant: 0, quota: 1, global: 0 });
    const text = await metrics.text();
    expect(text).toContain('tidb_mcp_refusals_total{limit="preauth",surface="other"} 12345\n');
    expect(text).toContain('tidb_mcp_refusals_total{limit="quota",surface="v1"} 1\n');
    expect(text).toContain('tidb_mcp_refusals_total{limit="global",surface="mcp"} 0\n');
  });

  it('have the names that dashboards use', async () => {
    const { metrics } = start();
    metrics.onModuleInit();
    metrics.countAdmitted('mcp');
    metrics.countAuth('missing');
    metrics.countClientIp('fallback');
    metrics.countPreauthOverflow();
    metrics.observeQuotaFlush('ok', 0.02);
    metrics.observeUpstream('ok', 0.1);
    metrics.countConfirm('confirm', 'done');
    metrics.countTelemetry('tool_called', 'sent');
    metrics.countRepresented('sent', 3);
    metrics.gauge('tidb_mcp_proven_credentials', () => 7);
    metrics.gauge('tidb_mcp_buckets', () => ({ preauth: 2, tenant: 3 }));
    metrics.gauge('tidb_mcp_quota_persistence_degraded', () => 1);
    metrics.gauge('tidb_mcp_live_instances', () => 2);
    const lines = (await metrics.text()).split('\n');
    expect(lines).toEqual(
      expect.arrayContaining([
        'tidb_mcp_admitted_total{surface="mcp"} 1',
        'tidb_mcp_auth_total{result="missing"} 1',
        'tidb_mcp_client_ip_total{source="fallback"} 1',
        'tidb_mcp_preauth_overflow_total 1',
        'tidb_mcp_quota_flush_total{result="ok"} 1',
        'tidb_mcp_quota_flush_seconds_count 1',
        'tidb_mcp_upstream_requests_total{outcome="ok"} 1',
        'tidb_mcp_upstream_seconds_sum 0.1',
        'tidb_mcp_confirm_total{step="confirm",result="done"} 1',
        'tidb_mcp_telemetry_events_total{kind="tool_called",result="sent"} 1',
        'tidb_mcp_telemetry_represented_total{result="sent"} 3',
        'tidb_mcp_proven_credentials 7',
        'tidb_mcp_buckets{layer="tenant"} 3',
        'tidb_mcp_quota_persistence_degraded 1',
        'tidb_mcp_live_instances 2',
      ]),
    );
    expect(lines.some((line) => line.startsWith('process_cpu_seconds_total'))).toBe(true);
  });

  it('are rendered at most once a second, and once for all who ask at the same time', async () => {
    const { metrics, clock } = start();
    const [first, second] = await Promise.all([metrics.text(), metrics.text()]);
    expect(second).toBe(first);
    metrics.countPreauthOverflow();
    clock.nowMs = 999;
    expect(await metrics.text()).toContain('tidb_mcp_preauth_overflow_total 0');
    clock.nowMs = 1000;
    expect(await metrics.text()).toContain('tidb_mcp_preauth_overflow_total 1');
  });

  it('survive an owner whose gauge can not be read', async () => {
    const { metrics } = start();
    metrics.gauge('tidb_mcp_live_instances', () => {
      throw new Error('gone');
    });
    expect(await metrics.text()).toContain('tidb_mcp_live_instances');
    expect(metrics.snapshot().liveInstances).toBeNull();
  });

  it('keep the number of labels bounded, whatever outcomes turn up', async () => {
    const { metrics } = start();
    for (let outcome = 0; outcome < 1000; outcome += 1) metrics.observeUpstream(`outcome-${outcome}`, 0.1);
    const text = await metrics.text();
    expect(text.match(/^tidb_mcp_upstream_requests_total/gm)).toHaveLength(33);
    expect(text).toContain('tidb_mcp_upstream_requests_total{outcome="other"} 968');
  });

  it('are the same in the JSON snapshot', async () => {
    const { metrics } = start();
    metrics.countRefusal('tenant', 'mcp');
    metrics.countAuth('rejected');
    expect(JSON.parse(await metrics.json())).toMatchObject({
      refusals: { preauth: 0, tenant: 1, quota: 0, global: 0 },
      auth: { accepted: 0, rejected: 1, unavailable: 0, missing: 0 },
      quotaPersistenceDegraded: false,
      liveInstances: null,
    });
  });

  it('are rendered again after a rendering that failed', async () => {
    const { metrics } = start();
    let broken = true;
    metrics.beforeRendering(() => (broken ? Promise.reject(new Error('broken')) : Promise.resolve()));
    await expect(metrics.text()).rejects.toThrow('broken');
    broken = false;
    expect(await metrics.text()).toContain('tidb_mcp_refusals_total');
  });
});
