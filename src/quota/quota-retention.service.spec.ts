import { Logger } from '@nestjs/common';
import { SchedulerRegistry } from '@nestjs/schedule';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ManualClock } from '../../test/support/manual-clock.js';
import { FlushSchedule } from './flush-schedule.js';
import { QuotaRetentionService } from './quota-retention.service.js';
import { QuotaTimersService } from './quota-timers.service.js';
import type { QuotaRepository } from './quota.repository.js';

const logged: string[] = [];
beforeEach(() => {
  logged.length = 0;
  const log = (line: unknown) => void logged.push(String(line));
  Logger.overrideLogger({ log, warn: log, error: log });
});
afterEach(() => Logger.overrideLogger(false));

/** A database from which each step of a clean-up takes so many rows and so long. */
function setUp(steps: readonly number[], stepMs: number) {
  const clock = new ManualClock();
  const left = [...steps];
  const repository = {
    deleteOldUsage: () => {
      clock.advance(stepMs);
      return Promise.resolve(left.shift() ?? 0);
    },
    deleteOldInstances: () => Promise.resolve(1),
  } as unknown as QuotaRepository;
  const schedule = new FlushSchedule(clock, 30_000, () => 0);
  const timers = new QuotaTimersService(new SchedulerRegistry());
  return new QuotaRetentionService(clock, { quotaRetentionDays: 90 }, schedule, repository, timers);
}

describe('the clean-up of old counts', () => {
  it('says how much it removed, and how long that took', async () => {
    expect(await setUp([500, 20], 700).removeOld()).toBe(520);
    expect(logged).toEqual(['Removed 520 rows of counts older than 90 days in 1.4 s.']);
  });

  it('is heard of in between where it takes long', async () => {
    await setUp([500, 500, 500, 0], 6_000).removeOld();
    expect(logged).toEqual([
      'Removing counts older than 90 days: 1000 rows so far.',
      'Removed 1500 rows of counts older than 90 days in 24.0 s.',
    ]);
  });

  it('says nothing where nothing was old', async () => {
    expect(await setUp([], 700).removeOld()).toBe(0);
    expect(logged).toEqual([]);
  });
});
