import { Injectable } from '@nestjs/common';
import { SchedulerRegistry } from '@nestjs/schedule';

/** Longer waits are cut up, so that no timer overflows Node's 2^31 ms and a stepping wall clock is noticed. */
const LONGEST_TIMER_MS = 3_600_000;

/** All waiting of the quota's background work, so that tests can let time pass by themselves. */
export interface QuotaTimers {
  /** Runs `work` after `delayMs`, instead of what was due under this name. */
  set(name: string, delayMs: number, work: () => void): void;
  /** Whether something is due under this name. */
  has(name: string): boolean;
  /** Takes back what is due under this name. */
  clear(name: string): void;
  /** Takes back everything, for good. */
  stop(): void;
  /** Resolves after `delayMs`. */
  pause(delayMs: number): Promise<void>;
  /** Waits for `work`, but no longer than `timeoutMs`; undefined where the time was up first. */
  within<T>(timeoutMs: number, work: Promise<T>): Promise<T | undefined>;
}

/** The quota's background work by name, in Nest's scheduler; none of it keeps the process alive. */
@Injectable()
export class QuotaTimersService implements QuotaTimers {
  private stopped = false;

  constructor(private readonly registry: SchedulerRegistry) {}

  set(name: string, delayMs: number, work: () => void): void {
    this.clear(name);
    if (this.stopped) return;
    const waitMs = Math.min(delayMs, LONGEST_TIMER_MS);
    const timer = setTimeout(() => {
      this.clear(name);
      if (delayMs > waitMs) this.set(name, delayMs - waitMs, work);
      else work();
    }, waitMs);
    this.registry.addTimeout(name, timer.unref());
  }

  has(name: string): boolean {
    return this.registry.doesExist('timeout', name);
  }

  clear(name: string): void {
    if (this.has(name)) this.registry.deleteTimeout(name);
  }

  stop(): void {
    this.stopped = true;
    for (const name of this.registry.getTimeouts()) if (name.startsWith('quota-')) this.clear(name);
  }

  pause(delayMs: number): Promise<void> {
    return new Promise((resolve) => setTimeout(resolve, delayMs));
  }

  async within<T>(timeoutMs: number, work: Promise<T>): Promise<T | undefined> {
    let timer: NodeJS.Timeout | undefined;
    const expiry = new Promise<undefined>((resolve) => {
      timer = setTimeout(() => resolve(undefined), timeoutMs);
    });
    try {
      return await Promise.race([work, expiry]);
    } finally {
      clearTimeout(timer);
    }
  }
}
