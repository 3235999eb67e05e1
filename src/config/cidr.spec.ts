import { BlockList, isIPv4 } from 'node:net';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { addressOrBlockProblem, isLoopback } from './cidr.js';

describe('a gateway', () => {
  it.each([
    '203.0.113.7',
    '0.0.0.0/0',
    '10.0.0.0/8',
    '10.1.2.3/32',
    '::1',
    '::/0',
    '2001:db8::/32',
    '::ffff:10.0.0.0/104',
  ])('may be listed as %s', (text) => {
    expect(addressOrBlockProblem(text)).toBeUndefined();
  });

  it.each([
    '',
    '10.0.0',
    '010.0.0.1',
    '10.0.0.0/',
    '10.0.0.0/08',
    '10.0.0.0/-1',
    '10.0.0.0/8/8',
    'fe80::1%eth0',
    '2001:db8::/129',
    '[::1]',
    'localhost',
  ])('may not be listed as "%s"', (text) => {
    expect(addressOrBlockProblem(text)).toBeDefined();
  });

  it('is a block exactly where its address is the first of the block', () => {
    const address = fc.oneof(fc.ipV4(), fc.ipV6());
    fc.assert(
      fc.property(address, fc.nat({ max: 128 }), (text, bits) => {
        const family = isIPv4(text) ? 'ipv4' : 'ipv6';
        const prefix = Math.min(bits, family === 'ipv4' ? 32 : 128);
        const accepted = addressOrBlockProblem(`${text}/${prefix}`) === undefined;
        expect(accepted).toBe(firstOfBlock(text, prefix, family));
      }),
    );
  });
});

/** By Node's own arithmetic: no lower address with another low bit is in the same block, tried bit by bit. */
function firstOfBlock(address: string, prefix: number, family: 'ipv4' | 'ipv6'): boolean {
  const length = family === 'ipv4' ? 32 : 128;
  for (let bit = prefix + 1; bit <= length; bit += 1) {
    const upperHalfOf = new BlockList();
    upperHalfOf.addSubnet(address, bit, family);
    const lower = new BlockList();
    lower.addSubnet(family === 'ipv4' ? withBitCleared4(address, bit) : withBitCleared6(address, bit), bit, family);
    if (!lower.check(address, family)) return false;
  }
  return true;
}

function withBitCleared4(address: string, bit: number): string {
  const parts = address.split('.').map(Number);
  const index = (bit - 1) >> 3;
  parts[index] = (parts[index] ?? 0) & ~(0x80 >> ((bit - 1) & 7));
  return parts.join('.');
}

function withBitCleared6(address: string, bit: number): string {
  const parts = expanded(address);
  const index = (bit - 1) >> 4;
  parts[index] = (parts[index] ?? 0) & ~(0x8000 >> ((bit - 1) & 15));
  return parts.map((part) => part.toString(16)).join(':');
}

function expanded(address: string): number[] {
  const host = new URL(`http://[${address}]`).hostname.slice(1, -1);
  const [head = '', tail = ''] = host.split('::');
  const left = head === '' ? [] : head.split(':');
  const right = tail === '' ? [] : tail.split(':');
  const zeros = Array<string>(8 - left.length - right.length).fill('0');
  return [...left, ...(host.includes('::') ? zeros : []), ...right].map((part) => Number.parseInt(part, 16));
}

describe('a listener', () => {
  it.each(['127.0.0.1', '127.9.9.9', '::1', '0:0:0:0:0:0:0:1', 'localhost', 'LOCALHOST', '::ffff:127.0.0.1'])(
    'on %s is for this machine alone',
    (host) => {
      expect(isLoopback(host)).toBe(true);
    },
  );

  it.each(['0.0.0.0', '::', '10.0.0.1', 'example.com', 'localhost.example.com'])('on %s is not', (host) => {
    expect(isLoopback(host)).toBe(false);
  });
});
