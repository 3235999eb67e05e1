import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readHostEntry, readOrigin } from './host.js';

describe('an accepted Host', () => {
  it.each([
    ['Example.COM', 'example.com'],
    ['example.com:8080', 'example.com:8080'],
    ['127.0.0.1', '127.0.0.1'],
    ['::1', '[::1]'],
    ['[0:0::1]:80', '[::1]:80'],
    ['*', '*'],
  ])('may be written %s', (text, canonical) => {
    expect(readHostEntry(text)).toBe(canonical);
  });

  it.each([
    '',
    'a b',
    'a:b',
    'a:99999',
    'a/',
    'http://a',
    '[a]',
    '-a.com',
    '*.example.com',
    'a..b',
    '1.2.3',
    '0x7f',
    'a:0',
  ])('may not be written "%s"', (text) => {
    expect(readHostEntry(text)).toBeUndefined();
  });

  it('is compared as it was read: reading it again changes nothing', () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.domain(), fc.ipV4(), fc.ipV6()),
        fc.option(fc.integer({ min: 1, max: 65_535 })),
        (name, port) => {
          const text = port === null ? name : `${name.includes(':') ? `[${name}]` : name}:${port}`;
          const read = readHostEntry(text);
          expect(read).toBeDefined();
          expect(readHostEntry(read ?? '')).toBe(read);
        },
      ),
    );
  });
});

describe('an allowed origin', () => {
  it('is what a browser sends', () => {
    expect(readOrigin('http://LOCALHOST:80')).toBe('http://localhost');
    expect(readOrigin('http://localhost:3000')).toBe('http://localhost:3000');
    expect(readOrigin('https://[::1]:8443')).toBe('https://[::1]:8443');
    expect(readOrigin('chrome-extension://abcdefgh')).toBe('chrome-extension://abcdefgh');
  });

  it.each([
    'null',
    '*',
    'https://*',
    'https://a.example/',
    'https://a.example?x',
    'a.example',
    'https://',
    'https://a@b',
  ])('is not "%s"', (text) => {
    expect(readOrigin(text)).toBeUndefined();
  });
});
