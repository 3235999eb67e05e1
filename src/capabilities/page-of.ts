/** One page of a list. */
export interface Page<T> {
  items: T[];
  nextPageToken?: string;
}

/**
 * Cuts a page out of a list that TiDB Cloud answers whole. The token is the last key of the page, not a position, so
 * that a list that changes between two pages neither repeats an item nor skips one.
 * @param key unique within the list; the order of pages is its order
 * @param pageToken any text: the page begins behind it
 */
export function pageOf<T>(
  list: readonly T[],
  key: (item: T) => string,
  pageSize: number,
  pageToken: string | undefined,
): Page<T> {
  const sorted = [...list].sort((a, b) => compare(key(a), key(b)));
  const start = pageToken === undefined ? 0 : sorted.findIndex((item) => key(item) > pageToken);
  const items = start < 0 ? [] : sorted.slice(start, start + pageSize);
  const last = items.at(-1);
  const isLast = start < 0 || last === undefined || start + items.length >= sorted.length;
  return isLast ? { items } : { items, nextPageToken: key(last) };
}

/** By code unit, which every machine orders alike. */
function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
