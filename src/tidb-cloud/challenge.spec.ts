import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseChallenges } from './challenge.js';

const token = fc.stringMatching(/^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,12}$/);
const text = fc.stringMatching(/^[\t\x20-\x7e]{0,20}$/);

function quote(value: string): string {
  return `"${value.replaceAll(/["\\]/g, '\\$&')}"`;
}

describe('Reading WWW-Authenticate', () => {
  it.each<[string, string | string[] | undefined, unknown[]]>([
    ['no header', undefined, []],
    ['an empty header', '', []],
    ['nothing but commas', ' , ,, ', []],
    ['a bare scheme', 'Negotiate', [['negotiate', undefined, {}]]],
    [
      'a token68',
      'Negotiate YII=, Basic realm="x"',
      [
        ['negotiate', 'YII=', {}],
        ['basic', undefined, { realm: 'x' }],
      ],
    ],
    [
      'commas inside a realm',
      'Digest realm="a, Basic b=c", nonce=n',
      [['digest', undefined, { realm: 'a, Basic b=c', nonce: 'n' }]],
    ],
    ['escapes inside a realm', 'Digest realm="a\\"b\\\\c"', [['digest', undefined, { realm: 'a"b\\c' }]]],
    [
      'spaces around the equals sign',
      'Digest realm = "a" , nonce = b',
      [['digest', undefined, { realm: 'a', nonce: 'b' }]],
    ],
    [
      'a header that turns malformed midway',
      'Basic realm="x", Digest realm="y',
      [['basic', undefined, { realm: 'x' }]],
    ],
    ['a parameter before any scheme', 'realm="x"', []],
    ['a parameter that comes twice', 'Digest nonce=a, nonce=b, Basic realm=c', [['basic', undefined, { realm: 'c' }]]],
    ['a control character in a quoted string', 'Digest realm="a\x01"', []],
    [
      'several headers',
      ['Basic realm="x"', 'Digest nonce="n"'],
      [
        ['basic', undefined, { realm: 'x' }],
        ['digest', undefined, { nonce: 'n' }],
      ],
    ],
  ])('understands %s', (_title, header, expected) => {
    const found = parseChallenges(header).map(({ scheme, token68, params }) => [
      scheme,
      token68,
      Object.fromEntries(params),
    ]);
    expect(found).toEqual(expected);
  });

  it('finds every challenge again, however they are spread over headers', () => {
    const params = fc.uniqueArray(fc.tuple(token, text), {
      selector: ([name]) => name.toLowerCase(),
      minLength: 1,
      maxLength: 6,
    });
    const challenge = fc.tuple(token, params);
    fc.assert(
      fc.property(fc.array(challenge, { minLength: 1, maxLength: 6 }), fc.boolean(), (challenges, together) => {
        const written = challenges.map(
          ([scheme, list]) => `${scheme} ${list.map(([name, value]) => `${name}=${quote(value)}`).join(', ')}`,
        );
        const found = parseChallenges(together ? written.join(', ') : written);
        expect(found.map(({ scheme }) => scheme)).toEqual(challenges.map(([scheme]) => scheme.toLowerCase()));
        found.forEach(({ params: read }, index) => {
          const list = challenges[index]?.[1] ?? [];
          expect([...read]).toEqual(list.map(([name, value]) => [name.toLowerCase(), value]));
        });
      }),
    );
  });

  it('never throws and never yields more than sixteen challenges, whatever arrives', () => {
    const pieces = fc.constantFrom(
      'Digest ',
      'realm="',
      '"',
      '\\',
      ',',
      '=',
      ' ',
      'a',
      '\t',
      '\x00',
      'é',
      'Basic ',
      'nonce=x',
    );
    const hostile = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.array(pieces, { maxLength: 300 }).map((parts) => parts.join('')),
    );
    fc.assert(
      fc.property(fc.array(hostile, { maxLength: 4 }), (headers) => {
        const found = parseChallenges(headers);
        expect(found.length).toBeLessThanOrEqual(16);
        for (const { params } of found) expect(params.size).toBeLessThanOrEqual(32);
      }),
    );
  });

  it('takes a header over 16,384 characters for none at all', () => {
    const realm = 'x'.repeat(16_384);
    expect(parseChallenges([`Basic realm="${realm}"`, 'Basic realm="y"'])).toHaveLength(1);
  });

  it('reads at most thirty-two parameters of a challenge', () => {
    const params = Array.from({ length: 33 }, (_, index) => `p${index}=v`).join(', ');
    expect(parseChallenges(`Digest ${params}`)).toEqual([]);
  });
});
