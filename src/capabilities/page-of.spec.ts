import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { pageOf } from './page-of.js';

const all = (list: string[], pageSize: number): string[] => {
  const seen: string[] = [];
  let token: string | undefined;
  do {
    const { items, nextPageToken }: { items: string[]; nextPageToken?: string } = pageOf(
      list,
      (item) => item,
      pageSize,
      token,
    );
    expect(items.length).toBeLessThanOrEqual(pageSize);
    seen.push(...items);
    token = nextPageToken;
  } while (token !== undefined);
  return seen;
};

describe('Pages of a list that TiDB Cloud answers whole', () => {
  it('hold every item once, whatever the size of a page', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.string({ minLength: 1 })), fc.integer({ min: 1, max: 100 }), (list, pageSize) => {
        expect(all(list, pageSize)).toEqual([...list].sort((a, b) => (a < b ? -1 : 1)));
      }),
    );
  });

  it('go on behind the last item although it has gone meanwhile', () => {
    const first = pageOf(['a', 'b', 'c', 'd'], (item) => item, 2, undefined);
    expect(first).toEqual({ items: ['a', 'b'], nextPageToken: 'b' });
    expect(pageOf(['a', 'c', 'd'], (item) => item, 2, first.nextPageToken)).toEqual({ items: ['c', 'd'] });
  });

  it('are empty behind the end and begin at the beginning with an empty token', () => {
    expect(pageOf(['a', 'b'], (item) => item, 2, 'z')).toEqual({ items: [] });
    expect(pageOf(['a', 'b'], (item) => item, 1, '')).toEqual({ items: ['a'], nextPageToken: 'a' });
  });
});
