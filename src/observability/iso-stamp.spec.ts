import fc from 'fast-check';
import { expect, it } from 'vitest';
import { IsoStamp } from './iso-stamp.js';

it('A stamp is what a date writes, whichever moment came before it', () => {
  const moment = fc.date({ min: new Date(0), max: new Date('2262-01-01'), noInvalidDate: true });
  fc.assert(
    fc.property(fc.array(fc.tuple(moment, fc.integer({ min: -1500, max: 1500 })), { minLength: 1 }), (moments) => {
      const stamp = new IsoStamp();
      for (const [date, step] of moments) {
        for (const utcMs of [date.getTime(), Math.max(0, date.getTime() + step)]) {
          expect(stamp.text(utcMs)).toBe(new Date(utcMs).toISOString());
        }
      }
    }),
  );
});
