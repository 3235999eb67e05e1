import { Logger } from '@nestjs/common';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Environment } from '../config/otlp-endpoint.js';
import { configOf } from '../config/parse-config.js';
import { LIMITS, SURFACES } from './labels.js';
import { MetricsService } from './metrics.service.js';
import type { TelemetrySink } from './telemetry-sink.js';
import { TelemetryService } from './telemetry.service.js';

const FINGERPRINT = '0123456789abcdef'.repeat(4);

type Done = (arrived: number, reason?: string) => void;

/** A sink that keeps what it gets; it may be told to be slow, or to lose everything behind a number of lines. */
class KeepingSink implements TelemetrySink {
  readonly lines: string[] = [];
  capacity = Number.POSITIVE_INFINITY;
  slow = false;
  readonly waiting: (() => void)[] = [];

  write(lines: readonly string[], done: Done): void {
    const finish = () => {
      const arriving = lines.slice(0, Math.max(0, this.capacity - this.lines.length));
      this.lines.push(...arriving);
      done(arriving.length, arriving.length < lines.length ? 'ENOSPC' : undefined);
    };
    if (this.slow) this.waiting.push(finish);
    else finish();
  }

  events(): Record<string, unknown>[] {
    return this.lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  }

  represented(): number {
    return this.events().reduce((sum, event) => sum + Number(event['representsCount'] ?? 0), 0);
  }
}

function start(env: Environment = {}, sink: TelemetrySink | null = new KeepingSink()) {
  const clock = { monotonicMs: () => performance.now(), utcMs: () => Date.now() };
  const metrics = new MetricsService(clock);
  const telemetry = new TelemetryService(configOf(env), clock, metrics, sink);
  return { metrics, telemetry, sink: sink as KeepingSink };
}

const counted = (metrics: MetricsService) => {
  const { sent, dropped } = metrics.snapshot().telemetryRepresented;
  return { sent, dropped };
};

beforeEach(() => {
  vi.useFakeTimers({ now: Date.UTC(2026, 10, 29, 12) });
  vi.spyOn(Logger.prototype, 'warn').mockImplementation(() => undefined);
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

describe('an event', () => {
  it('is one JSON line with its kind, its time and twelve digits of the tenant', async () => {
    const { telemetry, sink } = start();
    telemetry.emit({ event: 'credential_forgotten', tenant: FINGERPRINT, reason: 'rejected' });
    await vi.runAllTimersAsync();
    expect(sink.lines).toEqual([
      '{"event":"credential_forgotten","at":"2026-11-29T12:00:00.000Z","tenant":"0123456789ab","reason":"rejected"}\n',
    ]);
  });

  it('is never written while the request that caused it runs', () => {
    const { telemetry, sink } = start();
    telemetry.emit({ event: 'quota_degraded', reason: 'flush: TIMEOUT' });
    telemetry.refused('tenant', 'mcp', FINGERPRINT);
    expect(sink.lines).toEqual([]);
  });

  it('of any kind but a refusal is never sampled, only dropped by a full queue, and counted', async () => {
    const { telemetry, sink, metrics } = start({ TIDB_MCP_TELEMETRY_QUEUE_MAX: '100' });
    for (let call = 0; call < 150; call += 1)
      telemetry.emit({ event: 'tool_called', operation: 'x', outcome: 'ok', ms: 1 });
    await vi.runAllTimersAsync();
    expect(sink.lines).toHaveLength(100);
    const text = await metrics.text();
    expect(text).toContain('tidb_mcp_telemetry_events_total{kind="tool_called",result="sent"} 100');
    expect(text).toContain('tidb_mcp_telemetry_events_total{kind="tool_called",result="dropped"} 50');
    expect(text).toContain('tidb_mcp_telemetry_events_total{kind="tool_called",result="sampled"} 0');
  });
});

describe('refusals', () => {
  it('name their tenant while each has an event, and none where one event stands for several', async () => {
    const { telemetry, sink } = start({ TIDB_MCP_TELEMETRY_FLOOD_THRESHOLD: '1' });
    for (let refusal = 0; refusal < 5; refusal += 1) telemetry.refused('tenant', 'v1', FINGERPRINT);
    await vi.runAllTimersAsync();
    expect(sink.events()).toMatchObject([
      { event: 'rate_limited', limit: 'tenant', surface: 'v1', tenant: '0123456789ab', representsCount: 1 },
      { event: 'rate_limited', limit: 'tenant', surface: 'v1', tenant: null, representsCount: 4 },
    ]);
  });

  it('held back are told within a second of being counted, though nobody is refused again', async () => {
    const { telemetry, sink } = start();
    for (let refusal = 0; refusal < 1000; refusal += 1) telemetry.refused('preauth', 'mcp', null);
    await vi.advanceTimersByTimeAsync(999);
    expect(sink.represented()).toBe(1000);
    expect(sink.lines).toHaveLength(11);
  });

  it("at an attacker's rate leave one timer and no event of their own", () => {
    const { telemetry } = start();
    for (let refusal = 0; refusal < 11; refusal += 1) telemetry.refused('preauth', 'mcp', null);
    const timers = vi.getTimerCount();
    for (let refusal = 0; refusal < 100_000; refusal += 1) telemetry.refused('preauth', 'mcp', null);
    expect(vi.getTimerCount()).toBe(timers);
  });

  it('that a full queue can not take are told once it has room', async () => {
    const { telemetry, sink, metrics } = start({
      TIDB_MCP_TELEMETRY_QUEUE_MAX: '1',
      TIDB_MCP_TELEMETRY_FLOOD_THRESHOLD: '1000',
    });
    sink.slow = true;
    for (let refusal = 0; refusal < 50; refusal += 1) telemetry.refused('global', 'other', null);
    await vi.advanceTimersByTimeAsync(5000);
    expect(sink.lines).toHaveLength(0);
    sink.slow = false;
    for (const finish of sink.waiting.splice(0)) finish();
    await vi.advanceTimersByTimeAsync(1000);
    expect(sink.represented()).toBe(50);
    expect(counted(metrics)).toEqual({ sent: 50, dropped: 0 });
  });

  it('that a broken sink lost are counted as dropped', async () => {
    const { telemetry, sink, metrics } = start({ TIDB_MCP_TELEMETRY_FLOOD_THRESHOLD: '100' });
    sink.capacity = 30;
    for (let refusal = 0; refusal < 100; refusal += 1) telemetry.refused('quota', 'mcp', FINGERPRINT);
    await vi.runAllTimersAsync();
    expect(counted(metrics)).toEqual({ sent: 30, dropped: 70 });
    expect(vi.mocked(Logger.prototype.warn)).toHaveBeenCalledTimes(1);
    expect(vi.mocked(Logger.prototype.warn).mock.calls[0]?.[0]).toContain('ENOSPC');
  });

  it('are counted as dropped where telemetry is off, so that the totals still agree', () => {
    const { telemetry, metrics } = start({ TIDB_MCP_TELEMETRY: 'off' }, null);
    for (let refusal = 0; refusal < 20; refusal += 1) telemetry.refused('quota', 'mcp', FINGERPRINT);
    expect(counted(metrics)).toEqual({ sent: 0, dropped: 20 });
  });

  it('in a rendering of the metrics are those that telemetry accounts for', async () => {
    const { telemetry, metrics } = start();
    for (let refusal = 0; refusal < 500; refusal += 1) {
      metrics.countRefusal('tenant', 'mcp');
      telemetry.refused('tenant', 'mcp', FINGERPRINT);
    }
    const rendering = metrics.text();
    await vi.advanceTimersByTimeAsync(100);
    expect(await rendering).toContain('tidb_mcp_refusals_total{limit="tenant",surface="mcp"} 500');
    expect(await rendering).toContain('tidb_mcp_telemetry_represented_total{result="sent"} 500');
  });

  it('add up whatever the timing and whatever the sink does: sent + dropped = refused, sent = what was written', async () => {
    const step = fc.record({
      limit: fc.constantFrom(...LIMITS),
      surface: fc.constantFrom(...SURFACES),
      burst: fc.nat({ max: 60 }),
      waitMs: fc.nat({ max: 1500 }),
      slow: fc.boolean(),
      room: fc.option(fc.nat({ max: 20 })),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 20 }), async (steps) => {
        const { telemetry, sink, metrics } = start({
          TIDB_MCP_TELEMETRY_QUEUE_MAX: '8',
          TIDB_MCP_TELEMETRY_FLOOD_THRESHOLD: '5',
        });
        let refused = 0;
        for (const { limit, surface, burst, waitMs, slow, room } of steps) {
          sink.slow = slow;
          sink.capacity = room === null ? Number.POSITIVE_INFINITY : sink.lines.length + room;
          for (let refusal = 0; refusal < burst; refusal += 1) telemetry.refused(limit, surface, FINGERPRINT);
          refused += burst;
          await vi.advanceTimersByTimeAsync(waitMs);
          if (!slow) for (const finish of sink.waiting.splice(0)) finish();
        }
        const stopped = telemetry.onApplicationShutdown();
        await vi.advanceTimersByTimeAsync(2500);
        await stopped;
        const { sent, dropped } = counted(metrics);
        expect(sent + dropped).toBe(refused);
        expect(sink.represented()).toBe(sent);
      }),
      { numRuns: 60 },
    );
  });
});

describe('the start and the stop', () => {
  it('are told, the stop as the last event and with what was held back before it', async () => {
    const { telemetry, sink } = start();
    telemetry.serves();
    await vi.advanceTimersByTimeAsync(60_000);
    for (let refusal = 0; refusal < 40; refusal += 1) telemetry.refused('preauth', 'mcp', null);
    const stopped = telemetry.onApplicationShutdown();
    await vi.advanceTimersByTimeAsync(100);
    await stopped;
    expect(sink.events()[0]).toMatchObject({ event: 'server_started', transport: 'http' });
    expect(sink.events().at(-1)).toMatchObject({ event: 'server_stopped', uptimeSeconds: 60 });
    expect(sink.represented()).toBe(40);
  });

  it('are not told of a server that never came to serve', async () => {
    const { telemetry, sink } = start();
    await telemetry.onApplicationShutdown();
    expect(sink.events()).toEqual([]);
  });

  it('wait two seconds at the most for a sink that does not answer, and count what it did not get', async () => {
    const { telemetry, sink, metrics } = start();
    sink.slow = true;
    for (let refusal = 0; refusal < 40; refusal += 1) telemetry.refused('preauth', 'mcp', null);
    const stopped = telemetry.onApplicationShutdown();
    await vi.advanceTimersByTimeAsync(2100);
    await stopped;
    expect(counted(metrics)).toEqual({ sent: 0, dropped: 40 });
    for (const finish of sink.waiting.splice(0)) finish();
    telemetry.refused('preauth', 'mcp', null);
    expect(counted(metrics)).toEqual({ sent: 0, dropped: 41 });
  });

  it('survive a sink that throws', async () => {
    const { telemetry, metrics } = start(
      {},
      {
        write: () => {
          throw new Error('broken');
        },
      },
    );
    telemetry.refused('preauth', 'mcp', null);
    await vi.advanceTimersByTimeAsync(1000);
    expect(counted(metrics)).toEqual({ sent: 0, dropped: 1 });
  });
});
