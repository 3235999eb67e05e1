import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { stopGracefully, type Stoppable } from './graceful-stop.adapter.js';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A server with so many requests under way, until they end or are cut. */
function setUp(running: number) {
  const steps: string[] = [];
  let requests = running;
  let closed: (() => void) | undefined;
  const end = (): void => {
    requests = 0;
    closed?.();
  };
  const server: Stoppable = {
    announce: () => void steps.push('announce'),
    refuse: () => void steps.push('refuse'),
    close: () => {
      steps.push('close');
      return requests === 0 ? Promise.resolve() : new Promise((resolve) => (closed = resolve));
    },
    connections: () => Promise.resolve(requests),
    cut: () => {
      steps.push('cut');
      end();
    },
  };
  return { server, steps, end, say: (sentence: string) => void steps.push(sentence) };
}

describe('A server that stops', () => {
  it('says how long the grace still is, and why there is one', async () => {
    const { server, steps, say } = setUp(0);
    const stopped = stopGracefully(server, 12_000, say);
    await vi.advanceTimersByTimeAsync(11_999);
    const serving = (seconds: number) =>
      `Serving on for ${seconds} s, so that load balancers see that readiness is gone.`;
    expect(steps).toEqual(['announce', serving(12), serving(7), serving(2)]);
    await vi.advanceTimersByTimeAsync(1);
    await stopped;
    expect(steps.slice(4)).toEqual(['refuse', 'close']);
  });

  it('says every few seconds how many requests it waits for, and that it cuts them in the end', async () => {
    const { server, steps, say } = setUp(3);
    const stopped = stopGracefully(server, 0, say);
    await vi.advanceTimersByTimeAsync(19_999);
    const waiting = (seconds: number) => `Waiting for 3 open connections and their requests, for ${seconds} s more.`;
    expect(steps).toEqual(['announce', 'refuse', 'close', waiting(15), waiting(10), waiting(5)]);
    await vi.advanceTimersByTimeAsync(1);
    await stopped;
    expect(steps.slice(6)).toEqual(['Cutting 3 open connections: 20 s are over.', 'cut']);
  });

  it('looks for connections whose last request has ended several times a second', async () => {
    const { server, end, say } = setUp(1);
    const looked = vi.spyOn(server, 'connections');
    const stopped = stopGracefully(server, 0, say);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(looked).toHaveBeenCalledTimes(4);
    end();
    await stopped;
  });

  it('says nothing of what ends soon, and leaves no timer behind', async () => {
    const { server, steps, end, say } = setUp(1);
    const stopped = stopGracefully(server, 0, say);
    await vi.advanceTimersByTimeAsync(4_000);
    end();
    await stopped;
    expect(steps).toEqual(['announce', 'refuse', 'close']);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('cuts a grace of ten years short when it is told to hurry, and overflows no timer', async () => {
    const { server, steps, say } = setUp(0);
    const armed = vi.spyOn(globalThis, 'setTimeout');
    const hurry = new AbortController();
    const stopped = stopGracefully(server, 10 * 365 * 86_400_000, say, hurry.signal);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(steps).toHaveLength(14);
    hurry.abort();
    await stopped;
    expect(steps.slice(14)).toEqual(['refuse', 'close']);
    expect(Math.max(...armed.mock.calls.map(([, delayMs]) => delayMs ?? 0))).toBe(5_000);
  });
});
