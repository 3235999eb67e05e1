import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Deadline } from './deadline.adapter.js';

const HOUR_MS = 3_600_000;

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

function watched(timeoutMs: number, signal = new AbortController().signal): { deadline: Deadline; ends: string[] } {
  const deadline = new Deadline(timeoutMs, signal);
  const ends: string[] = [];
  deadline.watch(() => ends.push(deadline.ended ?? ''));
  return { deadline, ends };
}

describe('The deadline of an exchange', () => {
  it('ends once, when its time is up', () => {
    const { deadline, ends } = watched(1000);
    vi.advanceTimersByTime(999);
    expect(deadline.ended).toBeUndefined();
    vi.advanceTimersByTime(5000);
    expect(ends).toEqual(['timeout']);
  });

  it('ends with its caller, and not a second time with its time', () => {
    const caller = new AbortController();
    const { ends } = watched(1000, caller.signal);
    caller.abort();
    vi.advanceTimersByTime(5000);
    expect(ends).toEqual(['aborted']);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('has ended already where the caller has gone before', () => {
    expect(new Deadline(1000, AbortSignal.abort()).ended).toBe('aborted');
    expect(vi.getTimerCount()).toBe(0);
  });

  it('waits out also what Node has no timer for', () => {
    const { deadline, ends } = watched(1000 * HOUR_MS);
    vi.advanceTimersByTime(1000 * HOUR_MS - 1);
    expect(deadline.ended).toBeUndefined();
    vi.advanceTimersByTime(1);
    expect(ends).toEqual(['timeout']);
  });

  it('leaves neither timer nor listener behind once it is disposed of', () => {
    const caller = new AbortController();
    const remove = vi.spyOn(caller.signal, 'removeEventListener');
    const { deadline, ends } = watched(1000, caller.signal);
    deadline.dispose();
    caller.abort();
    vi.advanceTimersByTime(5000);
    expect(ends).toEqual([]);
    expect(vi.getTimerCount()).toBe(0);
    expect(remove).toHaveBeenCalledOnce();
  });

  it('calls nobody back who has stopped watching', () => {
    const deadline = new Deadline(1000, new AbortController().signal);
    const watcher = vi.fn<() => void>();
    deadline.watch(watcher)();
    vi.advanceTimersByTime(5000);
    expect(watcher).not.toHaveBeenCalled();
  });
});
