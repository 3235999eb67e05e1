import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { rateLimitWait, type ResponseHeaders } from './rate-limit-wait.js';

const NOW = Date.UTC(2026, 10, 29, 12, 0, 0);

describe("The wait for TiDB Cloud's own limit", () => {
  it.each<[string, ResponseHeaders, number]>([
    ['X-Ratelimit-Reset', { 'x-ratelimit-reset': '23', 'retry-after': '5' }, 23],
    ['Retry-After where there is no reset', { 'retry-after': '7' }, 7],
    ['Retry-After as a date', { 'retry-after': 'Sun, 29 Nov 2026 12:00:41 GMT' }, 41],
    ['one second for a date that has passed', { 'retry-after': 'Sun, 29 Nov 2026 11:00:00 GMT' }, 1],
    ['one second where nothing is said', {}, 1],
    ['one second for zero', { 'x-ratelimit-reset': '0' }, 1],
    ['a fraction rounded up', { 'x-ratelimit-reset': '22.1' }, 23],
    ['the first of several values', { 'x-ratelimit-reset': ['9', '30'] }, 9],
    ['Retry-After where the reset is an epoch', { 'x-ratelimit-reset': '1795953600', 'retry-after': '12' }, 12],
    ['one second where the reset is no number', { 'x-ratelimit-reset': 'soon', 'retry-after': '-3' }, 1],
    ['an hour at the most', { 'x-ratelimit-reset': '3600' }, 3600],
    ['one second for what is longer than an hour', { 'x-ratelimit-reset': '3601' }, 1],
  ])('is %s', (_title, headers, expected) => {
    expect(rateLimitWait(headers, NOW)).toBe(expected);
  });

  it('is whole and between one second and an hour, whatever the headers say', () => {
    const value = fc.oneof(
      fc.string(),
      fc.double().map(String),
      fc.integer().map(String),
      fc.date({ noInvalidDate: true }).map((date) => date.toUTCString()),
    );
    fc.assert(
      fc.property(value, value, (reset, retry) => {
        const wait = rateLimitWait({ 'x-ratelimit-reset': reset, 'retry-after': retry }, NOW);
        expect(Number.isInteger(wait) && wait >= 1 && wait <= 3600).toBe(true);
      }),
    );
  });
});
