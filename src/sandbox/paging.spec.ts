import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { page } from './paging.js';

function query(text: string): URLSearchParams {
  return new URLSearchParams(text);
}

describe("The sandbox's lists", () => {
  it('are whole when they are followed page by page, whatever the page size', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 60 }), fc.integer({ min: 1, max: 150 }), (count, size) => {
        const items = Array.from({ length: count }, (_, index) => index);
        const seen: number[] = [];
        let token = '';
        do {
          const {
            items: part,
            nextPageToken,
            totalSize,
          } = page(items, query(`pageSize=${size}&pageToken=${token}`), 'l', 10);
          expect(totalSize).toBe(count);
          expect(part.length).toBeLessThanOrEqual(Math.min(size, 100));
          seen.push(...part);
          token = nextPageToken;
        } while (token !== '');
        expect(seen).toEqual(items);
      }),
    );
  });

  it('give ten items where no size is asked for, and a hundred at the most', () => {
    const items = Array.from({ length: 200 }, (_, index) => index);
    expect(page(items, query(''), 'l', 10).items).toHaveLength(10);
    expect(page(items, query('pageSize=1000'), 'l', 10).items).toHaveLength(100);
  });

  it('skip what they are told to, also beyond the end', () => {
    expect(page([1, 2, 3], query('skip=2'), 'l', 10).items).toEqual([3]);
    expect(page([1, 2, 3], query('skip=5'), 'l', 10)).toEqual({ items: [], nextPageToken: '', totalSize: 3 });
  });

  it.each([
    ['a size that is no number', 'pageSize=x'],
    ['a negative size', 'pageSize=-1'],
    ['a token of nobody', 'pageToken=x'],
  ])('refuse %s', (_title, text) => {
    expect(() => page([1, 2], query(text), 'l', 10)).toThrow(expect.objectContaining({ status: 400 }));
  });

  it('refuse a token of another list or of other parameters', () => {
    const { nextPageToken } = page([1, 2, 3], query('pageSize=1'), 'clusters', 10);
    expect(page([1, 2, 3], query(`pageSize=1&pageToken=${nextPageToken}`), 'clusters', 10).items).toEqual([2]);
    expect(() => page([1, 2, 3], query(`pageSize=1&pageToken=${nextPageToken}`), 'backups', 10)).toThrow();
    expect(() => page([1, 2, 3], query(`pageSize=2&pageToken=${nextPageToken}`), 'clusters', 10)).toThrow();
  });
});
