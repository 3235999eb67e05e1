import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { watch } from '../../test/support/watch.js';
import { LedgerPatience } from './ledger-patience.adapter.js';

const NEVER = new Promise<never>(() => undefined);
const after = <T>(ms: number, value: T) => new Promise<T>((resolve) => setTimeout(() => resolve(value), ms));

describe('The patience of one call with the ledger', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it('ends after a second and a half, so that the caller has an answer within two', async () => {
    const waited = watch(new LedgerPatience().wait(NEVER));
    await vi.advanceTimersByTimeAsync(1_499);
    expect(waited.end).toBeUndefined();
    await vi.advanceTimersByTimeAsync(1);
    expect(waited.end).toBe('TIMEOUT');
  });

  it('is one for all waits of the call: what one has used up, the next ones lack', async () => {
    const patience = new LedgerPatience();
    const first = watch(patience.wait(after(900, 'first')));
    await vi.advanceTimersByTimeAsync(900);
    expect(first.end).toBe('first');
    await vi.advanceTimersByTimeAsync(5_000);
    const second = watch(patience.wait(after(500, 'second')));
    await vi.advanceTimersByTimeAsync(500);
    expect(second.end).toBe('second');
    const third = watch(patience.wait(NEVER));
    await vi.advanceTimersByTimeAsync(99);
    expect(third.end).toBeUndefined();
    await vi.advanceTimersByTimeAsync(1);
    expect(third.end).toBe('TIMEOUT');
    const fourth = watch(patience.wait(NEVER));
    await vi.advanceTimersByTimeAsync(1);
    expect(fourth.end).toBe('TIMEOUT');
  });

  it('is not used up by what the ledger does not hold up', async () => {
    await expect(new LedgerPatience().wait(Promise.reject(new Error('no')))).rejects.toThrow('no');
    await expect(new LedgerPatience().wait(Promise.resolve(1))).resolves.toBe(1);
    expect(vi.getTimerCount()).toBe(0);
  });
});
