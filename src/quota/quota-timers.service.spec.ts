import { SchedulerRegistry } from '@nestjs/schedule';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { QuotaTimersService } from './quota-timers.service.js';

const YEAR_MS = 365 * 86_400_000;

describe('timers of the quota', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it('of ten years are cut into hours, which no timer of Node overflows', async () => {
    const armed = vi.spyOn(globalThis, 'setTimeout');
    const timers = new QuotaTimersService(new SchedulerRegistry());
    const work = vi.fn();
    timers.set('quota-flush', 10 * YEAR_MS, work);
    await vi.advanceTimersByTimeAsync(YEAR_MS / 12);
    expect(work).not.toHaveBeenCalled();
    expect(Math.max(...armed.mock.calls.map(([, delayMs]) => delayMs ?? 0))).toBe(3_600_000);
    timers.set('quota-flush', 3_600_001, work);
    await vi.advanceTimersByTimeAsync(3_600_000);
    expect(work).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1);
    expect(work).toHaveBeenCalledOnce();
  });

  it('stand in the scheduler under their names, one each, and all end on shutdown', async () => {
    const registry = new SchedulerRegistry();
    const timers = new QuotaTimersService(registry);
    const [first, second] = [vi.fn(), vi.fn()];
    timers.set('quota-read', 10, first);
    timers.set('quota-read', 10, second);
    expect(registry.getTimeouts()).toEqual(['quota-read']);
    await vi.advanceTimersByTimeAsync(10);
    expect([first.mock.calls.length, second.mock.calls.length]).toEqual([0, 1]);
    timers.set('quota-read', 10, first);
    timers.stop();
    timers.set('quota-early', 10, first);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(first).not.toHaveBeenCalled();
    expect(registry.getTimeouts()).toEqual([]);
  });
});
