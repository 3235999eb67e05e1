import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { editDistance, nearestName } from './nearest-name.js';

describe('the nearest known name', () => {
  it('is the one that takes the fewest edits', () => {
    expect(nearestName('TIDB_MCP_PROT', ['TIDB_MCP_HOST', 'TIDB_MCP_PORT'])).toBe('TIDB_MCP_PORT');
    expect(nearestName('X'.repeat(100_000), ['TIDB_MCP_HOST'])).toBe('TIDB_MCP_HOST');
  });

  it('is measured as people would count the edits', () => {
    expect(editDistance('kitten', 'sitting')).toBe(3);
    fc.assert(
      fc.property(fc.string(), fc.string(), fc.string(), (a, b, c) => {
        expect(editDistance(a, b)).toBe(editDistance(b, a));
        expect(editDistance(a, b) === 0).toBe(a === b);
        expect(editDistance(a, c)).toBeLessThanOrEqual(editDistance(a, b) + editDistance(b, c));
      }),
    );
  });
});
