import { beforeEach, describe, expect, it } from 'vitest';
import type { Identity } from '../request/credential.js';
import { ValidationPool, type ValidationPoolLimits } from './validation-pool.js';

interface Started {
  name: string;
  signal: AbortSignal;
  answer: (result: string) => void;
}

const identity = (name: string): Identity => ({
  kind: 'oauth',
  fingerprint: name,
  tenant: name,
  credential: { kind: 'oauth', token: name },
});
const settled = async (): Promise<void> => {
  for (let i = 0; i < 10; i += 1) await Promise.resolve();
};

let started: Started[];
let timers: { ms: number; fire: () => void }[];

function pool(limits: Partial<ValidationPoolLimits> = {}) {
  return new ValidationPool<string>(
    ({ fingerprint: name }, signal) => new Promise((answer) => started.push({ name, signal, answer })),
    { running: 4, reservedForProven: 1, waiting: 3, waitingUnproven: 2, waitMs: 10_000, ...limits },
    (ms, fire) => {
      const timer = { ms, fire };
      timers.push(timer);
      return () => void timers.splice(timers.indexOf(timer), 1);
    },
  );
}
/** The signal of a request whose caller stays; each request has its own. */
const stay = (): AbortSignal => new AbortController().signal;

beforeEach(() => {
  started = [];
  timers = [];
});

describe('The pool of validations', () => {
  it('lets concurrent first calls of one credential share one upstream validation', async () => {
    const one = pool();
    const calls = Array.from({ length: 50 }, () => one.run(identity('a'), false, stay()));
    expect(started).toHaveLength(1);
    started[0]!.answer('yes');
    expect(new Set(await Promise.all(calls))).toEqual(new Set(['yes']));
  });

  it('asks again for a call that comes after the answer', async () => {
    const one = pool();
    const first = one.run(identity('a'), false, stay());
    started[0]!.answer('no');
    await first;
    await settled();
    void one.run(identity('a'), false, stay());
    expect(started).toHaveLength(2);
  });

  it('keeps places that only revalidations of proven credentials may take', () => {
    const one = pool();
    for (const name of ['a', 'b', 'c', 'd']) void one.run(identity(name), false, stay());
    expect(started.map(({ name }) => name)).toEqual(['a', 'b', 'c']);
    void one.run(identity('known'), true, stay());
    expect(started.map(({ name }) => name)).toEqual(['a', 'b', 'c', 'known']);
  });

  it('turns away what finds no place to wait, unproven credentials sooner', async () => {
    const one = pool();
    for (const name of ['a', 'b', 'c', 'wait-1', 'wait-2']) void one.run(identity(name), false, stay());
    expect(await one.run(identity('x'), false, stay())).toBeUndefined();
    for (const name of ['p', 'wait-3']) void one.run(identity(name), true, stay());
    expect(await one.run(identity('y'), true, stay())).toBeUndefined();
    expect(started).toHaveLength(4);
  });

  it('lets who waits in when a place comes free, proven ones first', async () => {
    const one = pool();
    for (const name of ['a', 'b', 'c', 'wait']) void one.run(identity(name), false, stay());
    for (const name of ['p', 'q']) void one.run(identity(name), true, stay());
    started[0]!.answer('yes');
    await settled();
    started[1]!.answer('yes');
    await settled();
    expect(started.map(({ name }) => name)).toEqual(['a', 'b', 'c', 'p', 'q', 'wait']);
  });

  it('gives up what has waited too long for a place', async () => {
    const one = pool();
    for (const name of ['a', 'b', 'c']) void one.run(identity(name), false, stay());
    const waiting = one.run(identity('late'), false, stay());
    expect(timers.map(({ ms }) => ms)).toEqual([10_000]);
    timers[0]!.fire();
    expect(await waiting).toBeUndefined();
    started[0]!.answer('yes');
    await settled();
    expect(started).toHaveLength(3);
  });

  it('is aborted only when its last waiter has left', async () => {
    const one = pool();
    const [first, second] = [new AbortController(), new AbortController()];
    const calls = [first, second].map(({ signal }) => one.run(identity('a'), false, signal));
    first.abort();
    await settled();
    expect(started[0]!.signal.aborted).toBe(false);
    second.abort();
    expect(await Promise.all(calls)).toEqual([undefined, undefined]);
    expect(started[0]!.signal.aborted).toBe(true);
  });

  it('frees the place of who left while waiting, and of an aborted validation once it has ended', async () => {
    const one = pool({ running: 2, waiting: 1, waitingUnproven: 1 });
    const [gone, away] = [new AbortController(), new AbortController()];
    const running = one.run(identity('a'), false, gone.signal);
    const waiting = one.run(identity('b'), false, away.signal);
    away.abort();
    await waiting;
    expect(timers).toHaveLength(0);
    void one.run(identity('c'), false, stay());
    gone.abort();
    await running;
    expect(started.map(({ name }) => name)).toEqual(['a']);
    started[0]!.answer('aborted');
    await settled();
    expect(started.map(({ name }) => name)).toEqual(['a', 'c']);
  });

  it('asks nothing for a caller who has left already', async () => {
    expect(await pool().run(identity('a'), false, AbortSignal.abort())).toBeUndefined();
    expect(started).toHaveLength(0);
  });

  it('revalidates in the background once at a time for a credential, and whoever comes meanwhile shares it', async () => {
    const one = pool({ reservedForProven: 3 });
    expect([one.runInBackground(identity('a')), one.runInBackground(identity('a'))]).toEqual([true, false]);
    const gone = new AbortController();
    const calls = [one.run(identity('a'), true, gone.signal), one.run(identity('a'), true, stay())];
    gone.abort();
    expect(await calls[0]).toBeUndefined();
    expect([started.length, started[0]!.signal.aborted]).toEqual([1, false]);
    started[0]!.answer('yes');
    expect(await calls[1]).toBe('yes');
    await settled();
    expect(one.runInBackground(identity('a'))).toBe(true);
  });

  it('takes no place from a caller for what runs in the background', async () => {
    const one = pool({ running: 6, reservedForProven: 3 });
    const background = ['a', 'b', 'c'].map((name) => one.runInBackground(identity(name)));
    expect(background).toEqual([true, true, false]);
    for (const name of ['u', 'v', 'w', 'wait']) void one.run(identity(name), false, stay());
    void one.run(identity('known'), true, stay());
    expect(started.map(({ name }) => name)).toEqual(['a', 'b', 'u', 'v', 'w', 'known']);
    started[0]!.answer('yes');
    await settled();
    void one.run(identity('known-2'), true, stay());
    expect([one.runInBackground(identity('c')), timers.length]).toEqual([false, 1]);
  });

  it('goes on after a fault in the background', async () => {
    const limits = { running: 2, reservedForProven: 2, waiting: 0, waitingUnproven: 0, waitMs: 1 };
    const one = new ValidationPool<string>(
      () => Promise.reject(new Error('broken')),
      limits,
      () => () => {},
    );
    expect(one.runInBackground(identity('a'))).toBe(true);
    await settled();
    expect(one.runInBackground(identity('a'))).toBe(true);
  });

  it('tells every waiter of a fault, and goes on', async () => {
    const one = new ValidationPool<string>(
      () => Promise.reject(new Error('broken')),
      { running: 1, reservedForProven: 0, waiting: 0, waitingUnproven: 0, waitMs: 1 },
      () => () => {},
    );
    await expect(one.run(identity('a'), false, stay())).rejects.toThrow('broken');
    await settled();
    await expect(one.run(identity('a'), false, stay())).rejects.toThrow('broken');
  });
});
