import { describe, expect, it } from 'vitest';
import { SerialQueue } from './serial-queue.js';

describe('units of work that have to take turns', () => {
  it('run one at a time and in order, whatever becomes of the one before', async () => {
    const queue = new SerialQueue(10);
    const log: string[] = [];
    const piece = (name: string, fails: boolean) => async () => {
      log.push(`${name} begins`);
      await Promise.resolve();
      log.push(`${name} ends`);
      if (fails) throw new Error(name);
      return name;
    };
    const results = await Promise.allSettled([queue.run(piece('a', true)), queue.run(piece('b', false))]);
    expect(results.map((result) => result.status)).toEqual(['rejected', 'fulfilled']);
    expect(log).toEqual(['a begins', 'a ends', 'b begins', 'b ends']);
  });

  it('are refused past the ceiling instead of piling up', async () => {
    const queue = new SerialQueue(2);
    const waiting = [queue.run(() => Promise.resolve(1)), queue.run(() => Promise.resolve(2))];
    expect(queue.isFull).toBe(true);
    await expect(queue.run(() => Promise.resolve(3))).rejects.toThrow('more than 2');
    expect(await Promise.all(waiting)).toEqual([1, 2]);
    await expect(queue.run(() => Promise.resolve(3))).resolves.toBe(3);
  });
});
