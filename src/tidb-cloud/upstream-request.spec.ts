import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseBase, requestTarget, type UpstreamRequest } from './upstream-request.js';

const BASE = parseBase('https://serverless.tidbapi.com');

function target(request: Partial<UpstreamRequest>, base = BASE): string | undefined {
  return requestTarget(base, { host: 'serverless', method: 'GET', path: ['clusters'], ...request });
}

describe('Addressing TiDB Cloud', () => {
  it.each([
    ['https://serverless.tidbapi.com', 'https://serverless.tidbapi.com', ''],
    ['https://serverless.tidbapi.com/', 'https://serverless.tidbapi.com', ''],
    ['http://127.0.0.1:4000/proxy/tidb/', 'http://127.0.0.1:4000', '/proxy/tidb'],
  ])('takes %s apart', (url, origin, prefix) => {
    expect(parseBase(url)).toEqual({ origin, prefix });
  });

  it.each(['ftp://tidbapi.com', 'file:///etc', 'serverless.tidbapi.com'])('does not take %s for a base', (url) => {
    expect(() => parseBase(url)).toThrow(TypeError);
  });

  it('puts segments, suffix and query together, each encoded', () => {
    const query = { pageSize: 1, pageToken: 'a b&c=d#e?', missing: undefined };
    expect(target({ path: ['clusters', '1/2', 'branches', 'ü:reset'], suffix: ':reset', query })).toBe(
      '/v1beta1/clusters/1%2F2/branches/%C3%BC%3Areset:reset?pageSize=1&pageToken=a%20b%26c%3Dd%23e%3F',
    );
    expect(target({}, parseBase('http://127.0.0.1:1/p'))).toBe('/p/v1beta1/clusters');
  });

  it.each([
    ['an empty segment', { path: ['clusters', ''] }],
    ['a dot segment', { path: ['clusters', '.'] }],
    ['a double-dot segment', { path: ['clusters', '..', 'projects'] }],
    ['no segment', { path: [] }],
    ['a lone surrogate', { path: ['clusters', '\ud800'] }],
    ['a lone surrogate in the query', { query: { filter: '\udfff' } }],
    ['a suffix that is a path', { suffix: ':reset/x' }],
    ['more than 8,192 characters', { query: { filter: 'x'.repeat(8192) } }],
  ])('refuses %s', (_title, request) => {
    expect(target(request)).toBeUndefined();
  });

  it('lets no segment and no query value reach another path or parameter', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary', maxLength: 100 }),
        fc.string({ unit: 'binary', maxLength: 100 }),
        (segment, value) => {
          const text = target({ path: ['clusters', segment], query: { filter: value } });
          if (text === undefined) return;
          const url = new URL(text, 'http://example.com');
          expect(url.pathname.split('/')).toHaveLength(4);
          expect(decodeURIComponent(url.pathname.split('/')[3] ?? '')).toBe(segment);
          expect([...url.searchParams]).toEqual([['filter', value]]);
          expect(url.hash).toBe('');
          expect(`${url.pathname}${url.search}`).toBe(text);
        },
      ),
    );
  });
});
