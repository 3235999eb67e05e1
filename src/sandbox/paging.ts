import { createHash } from 'node:crypto';
import { invalidArgument } from './api-error.js';

/** One page of a list. */
export interface PageOf<T> {
  readonly items: readonly T[];
  /** Empty on the last page. */
  readonly nextPageToken: string;
  readonly totalSize: number;
}

const MAX_PAGE_SIZE = 100;

/**
 * Cuts the page out of `items` that the query asks for. A token is bound to all other parameters of its list, as the
 * upstream wants it. Throws an ApiError (400) for a size that is no number and for a token of another list.
 * @param list names the list, with the ids in its path
 */
export function page<T>(items: readonly T[], query: URLSearchParams, list: string, defaultSize: number): PageOf<T> {
  const size = Math.min(integer(query, 'pageSize') || defaultSize, MAX_PAGE_SIZE);
  const binding = bindingOf(query, list);
  const token = query.get('pageToken') ?? '';
  const start = token === '' ? integer(query, 'skip') : offsetIn(token, binding);
  const end = start + size;
  const nextPageToken = end < items.length ? Buffer.from(`${end}.${binding}`).toString('base64url') : '';
  return { items: items.slice(start, end), nextPageToken, totalSize: items.length };
}

function integer(query: URLSearchParams, name: string): number {
  const text = query.get(name) ?? '0';
  if (!/^\d{1,9}$/.test(text)) throw invalidArgument(`${name} must be a non-negative integer`);
  return Number(text);
}

function bindingOf(query: URLSearchParams, list: string): string {
  const others = [...query].filter(([name]) => name !== 'pageToken').sort(([a], [b]) => (a < b ? -1 : 1));
  return createHash('sha256')
    .update(JSON.stringify([list, others]))
    .digest('hex')
    .slice(0, 16);
}

function offsetIn(token: string, binding: string): number {
  const match = /^(\d{1,9})\.([0-9a-f]{16})$/.exec(Buffer.from(token, 'base64url').toString('latin1'));
  if (match?.[2] !== binding) throw invalidArgument('pageToken is invalid');
  return Number(match[1]);
}
