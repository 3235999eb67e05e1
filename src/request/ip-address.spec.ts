import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { covers, formatAddress, formatNetwork, parseAddress, parseBlock, parseForwardedAddress } from './ip-address.js';

const canonical = (text: string): string | undefined => {
  const address = parseForwardedAddress(text);
  return address && formatAddress(address);
};

describe('An address in a header', () => {
  it.each([
    ['1.2.3.4', '1.2.3.4'],
    [' 1.2.3.4\t', '1.2.3.4'],
    ['1.2.3.4:5678', '1.2.3.4'],
    ['2001:DB8::1', '2001:db8::1'],
    ['[2001:db8::1]:443', '2001:db8::1'],
    ['::ffff:1.2.3.4', '1.2.3.4'],
    ['::ffff:102:304', '1.2.3.4'],
    ['::', '::'],
    ['1:0:0:2:0:0:0:3', '1:0:0:2::3'],
    ['64:ff9b::1.2.3.4', '64:ff9b::102:304'],
  ])('%j is %s', (text, expected) => {
    expect(canonical(text)).toBe(expected);
  });

  it.each([
    '',
    ' ',
    'unknown',
    '_hidden',
    '1.2.3',
    '1.2.3.256',
    '01.2.3.4',
    '0x1.2.3.4',
    '1.2.3.4:',
    '1.2.3.4:65536',
    '1.2.3.4:x',
    '1.2.3.4, 5.6.7.8',
    '1.2.3.4 5.6.7.8',
    '"1.2.3.4"',
    '2001:db8::1:443:9:9:9:9:9',
    '[2001:db8::1]',
    '[2001:db8::1]:',
    '[1.2.3.4]:80',
    'fe80::1%eth0',
    '[fe80::1%eth0]:80',
    '1.2.3.4/24',
    'for=1.2.3.4',
    '::ffff:1.2.3.4.5',
    '2001:db8:::1',
  ])('%j is malformed', (text) => {
    expect(canonical(text)).toBeUndefined();
  });

  it('is read in time, whatever fills its header: an expression that backtracks would stop the server', () => {
    // Read again and again from each character on, these would take until the test's own time-out.
    for (const space of [' ', '\t', ' \t']) {
      expect(canonical(`1.2.3.4${space.repeat(200_000)}x`)).toBeUndefined();
      expect(canonical(`${space.repeat(200_000)}1.2.3.4${space.repeat(200_000)}`)).toBe('1.2.3.4');
    }
  });

  it('reads back as what it was written from, whatever the address', () => {
    fc.assert(
      fc.property(fc.oneof(fc.ipV4(), fc.ipV6()), (text) => {
        const address = parseAddress(text);
        expect(address && parseAddress(formatAddress(address))).toEqual(address);
        expect(address).toBeDefined();
      }),
    );
  });
});

describe('A block', () => {
  it('covers exactly the addresses that share its leading bits', () => {
    const parts = fc.array(fc.integer({ min: 0, max: 0xffff }), { minLength: 8, maxLength: 8 });
    fc.assert(
      fc.property(parts, parts, fc.integer({ min: 0, max: 128 }), (a, b, bits) => {
        const block = { address: { family: 6 as const, parts: a }, bits, text: '' };
        const binary = (x: number[]): string =>
          x
            .map((part) => part.toString(2).padStart(16, '0'))
            .join('')
            .slice(0, bits);
        expect(covers(block, { family: 6, parts: b })).toBe(binary(a) === binary(b));
        const flipped = [...a];
        if (bits > 0) flipped[(bits - 1) >> 4]! ^= 1 << (15 - ((bits - 1) & 15));
        expect(covers(block, { family: 6, parts: flipped })).toBe(bits === 0);
        expect(formatNetwork({ family: 6, parts: a }, bits) === formatNetwork({ family: 6, parts: b }, bits)).toBe(
          binary(a) === binary(b),
        );
      }),
    );
  });

  it('names an IPv4 network by any of its addresses, and one in IPv6 clothes too', () => {
    const block = parseBlock('10.1.2.3/8')!;
    expect(covers(block, parseAddress('10.200.0.1')!)).toBe(true);
    expect(covers(block, parseAddress('11.0.0.1')!)).toBe(false);
    expect(covers(parseBlock('::ffff:10.0.0.0/104')!, parseAddress('10.9.9.9')!)).toBe(true);
    expect(covers(parseBlock('2001:db8::/32')!, parseAddress('2001:db8:ffff::1')!)).toBe(true);
  });

  it.each(['10.0.0.0/33', '2001:db8::/129', '10.0.0.0/', 'x/8', '10.0.0.0/8/8', '::ffff:10.0.0.0/90', ''])(
    'can not be %j',
    (text) => {
      expect(parseBlock(text)).toBeUndefined();
    },
  );
});
