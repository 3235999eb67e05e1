import { existsSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { siege } from './siege.js';

describe('A server under siege', () => {
  it.skipIf(!existsSync('/proc/self/status'))(
    'stays up, serves its tenants, forgets no refusal and does not grow (skipped where there is no /proc)',
    async () => {
      const report = await siege({ seconds: 6, seed: 7, sockets: 300 });
      expect(report.failures).toEqual([]);
      expect(report.refusals).toBeGreaterThan(100);
      expect(report.heldSockets).toBeGreaterThan(100);
    },
    60_000,
  );
});
