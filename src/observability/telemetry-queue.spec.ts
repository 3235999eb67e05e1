import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { TelemetryQueue } from './telemetry-queue.js';

describe('the telemetry queue', () => {
  it('hands out in order what it took, and refuses what goes over its ceiling', () => {
    const step = fc.oneof(fc.constant('push' as const), fc.nat({ max: 5 }));
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 8 }), fc.array(step, { maxLength: 200 }), (max, steps) => {
        const queue = new TelemetryQueue<number>(max);
        const model: number[] = [];
        let next = 0;
        for (const action of steps) {
          if (action === 'push') {
            const fits = model.length < max;
            if (fits) model.push(next);
            expect(queue.push(next)).toBe(fits);
            next += 1;
          } else expect(queue.take(action)).toEqual(model.splice(0, action));
          expect(queue.size).toBe(model.length);
        }
      }),
    );
  });
});
