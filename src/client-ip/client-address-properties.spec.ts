import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseBlock } from '../request/ip-address.js';
import { ClientAddressReader } from './client-address.js';

const socket = (remoteAddress = '192.0.2.1') => ({ remoteAddress });
const gateways = [parseBlock('198.51.100.0/24')!];
const reader = (header: string | undefined, depth: number) =>
  new ClientAddressReader({ header, depth, ipv6Prefix: 64, gateways });

/** Headers by which callers have talked servers into another address. */
const FORGED = [
  'x-forwarded-for',
  'forwarded',
  'x-real-ip',
  'true-client-ip',
  'cf-connecting-ip',
  'fly-client-ip',
  'x-client-ip',
  'via',
  'client-ip',
];
const claim = fc.oneof(
  fc.ipV4(),
  fc.ipV6(),
  fc.string(),
  fc.constantFrom('', ',', '127.0.0.1', '198.51.100.7', ' , ,'),
);
const forged = fc.dictionary(fc.constantFrom(...FORGED), claim);

describe('What a caller writes', () => {
  it('decides nothing where no source is declared', () => {
    fc.assert(
      fc.property(forged, (headers) => {
        expect(reader(undefined, 0).read({ headers, socket: socket() })).toMatchObject({
          key: '192.0.2.1',
          source: 'socket',
          gateway: undefined,
        });
      }),
    );
  });

  it('decides nothing beside the one header that the proxy sets', () => {
    fc.assert(
      fc.property(forged, fc.constantFrom('true-client-ip', 'x-real-ip'), fc.ipV4(), (headers, declared, real) => {
        const read = reader(declared, 0).read({ headers: { ...headers, [declared]: real }, socket: socket() });
        expect([read.address, read.source]).toEqual([real, 'header']);
        const without = { ...headers };
        delete without[declared];
        expect(reader(declared, 0).read({ headers: without, socket: socket() })).toMatchObject({
          key: '192.0.2.1',
          source: 'fallback',
        });
      }),
    );
  });

  it('decides nothing in front of the hops that are counted, whatever else it sends', () => {
    const depths = fc.array(fc.oneof(fc.ipV4(), fc.ipV6()), { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(forged, fc.array(claim, { maxLength: 5 }), depths, (headers, claims, hops) => {
        const list = { ...headers, 'x-forwarded-for': [...claims, ...hops].join(', ') };
        const alone = { 'x-forwarded-for': hops.join(', ') };
        const read = (given: Record<string, string>) =>
          reader(undefined, hops.length).read({ headers: given, socket: socket() });
        expect(read(list)).toEqual(read(alone));
      }),
    );
  });

  it('never makes the address longer than an address, nor fails', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 200 }), fc.integer({ min: 0, max: 5 }), fc.string(), (text, depth, peer) => {
        const read = reader(undefined, depth).read({ headers: { 'x-forwarded-for': text }, socket: socket(peer) });
        expect(read.key.length).toBeLessThanOrEqual(45);
        expect(read.network.length).toBeLessThanOrEqual(45);
      }),
    );
  });
});
