import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseBlock } from '../request/ip-address.js';
import { ClientAddressReader, type ClientAddressOptions } from './client-address.js';

const reader = (options: Partial<ClientAddressOptions>) =>
  new ClientAddressReader({ header: undefined, depth: 0, ipv6Prefix: 64, gateways: [], ...options });
const from = (headers: Record<string, string>, remoteAddress: string | undefined = '10.0.0.9') => ({
  headers,
  socket: { remoteAddress },
});

describe('Where the client address comes from', () => {
  it('uses the connection address and ignores every header when nothing is declared', () => {
    const claims = {
      'x-forwarded-for': '1.1.1.1',
      forwarded: 'for=1.1.1.1',
      'x-real-ip': '1.1.1.1',
      'fly-client-ip': '1.1.1.1',
    };
    expect(reader({}).read(from(claims))).toMatchObject({ key: '10.0.0.9', source: 'socket' });
  });

  it('reads a header that the proxy sets', () => {
    const read = reader({ header: 'fly-client-ip' }).read(
      from({ 'fly-client-ip': '1.2.3.4', 'x-forwarded-for': '6.6.6.6' }),
    );
    expect(read).toMatchObject({ address: '1.2.3.4', key: '1.2.3.4', source: 'header' });
  });

  it('counts X-Forwarded-For from the right, over all its lines', () => {
    const list = from({ 'x-forwarded-for': '6.6.6.6, 1.1.1.1,2.2.2.2 , 3.3.3.3' });
    expect([1, 2, 3].map((depth) => reader({ depth }).read(list).key)).toEqual(['3.3.3.3', '2.2.2.2', '1.1.1.1']);
  });

  it.each([
    ['missing', {}, 1],
    ['shorter than the hop count', { 'x-forwarded-for': '1.1.1.1' }, 2],
    ['malformed', { 'x-forwarded-for': '1.1.1.1, unknown' }, 1],
    ['empty where it counts', { 'x-forwarded-for': '1.1.1.1, ' }, 1],
    ['wholly empty', { 'x-forwarded-for': '' }, 1],
  ])('falls back to the connection, and says so, when the list is %s', (_, headers, depth) => {
    expect(reader({ depth }).read(from(headers as Record<string, string>))).toMatchObject({
      key: '10.0.0.9',
      source: 'fallback',
    });
  });

  it('counts an empty element as an element', () => {
    expect(reader({ depth: 2 }).read(from({ 'x-forwarded-for': '1.1.1.1,' })).key).toBe('1.1.1.1');
    expect(reader({ depth: 3 }).read(from({ 'x-forwarded-for': '1.1.1.1,,2.2.2.2' })).key).toBe('1.1.1.1');
  });

  it.each([{}, { 'true-client-ip': '1.1.1.1, 2.2.2.2' }, { 'true-client-ip': 'x' }, { 'x-forwarded-for': '1.1.1.1' }])(
    'never looks elsewhere when the declared header is no single address: %j',
    (headers) => {
      const read = reader({ header: 'true-client-ip' }).read(from(headers as Record<string, string>));
      expect(read).toMatchObject({ key: '10.0.0.9', source: 'fallback' });
    },
  );

  it('does not change with anything the caller writes in front of what the proxies appended', () => {
    fc.assert(
      fc.property(fc.string(), fc.ipV4(), fc.array(fc.ipV4(), { maxLength: 3 }), (claim, real, later) => {
        const list = [claim.replaceAll(/[\r\n]/g, ''), real, ...later].join(',');
        const read = reader({ depth: later.length + 1 }).read(from({ 'x-forwarded-for': list }));
        expect(read).toMatchObject({ key: real, source: 'forwarded' });
      }),
    );
  });

  it('keys an IPv6 caller by its prefix, so that walking a /64 is one bucket', () => {
    const keys = ['2001:db8:0:1::1', '2001:db8:0:1:ffff::2', '2001:db8:0:2::1'].map(
      (address) => reader({}).read(from({}, address)).key,
    );
    expect(keys).toEqual(['2001:db8:0:1::/64', '2001:db8:0:1::/64', '2001:db8:0:2::/64']);
    expect(reader({ ipv6Prefix: 128 }).read(from({}, '2001:db8::1')).key).toBe('2001:db8::1');
  });

  it('takes an IPv4-mapped connection for IPv4, and a zone for what it is', () => {
    expect(reader({}).read(from({}, '::ffff:127.0.0.1')).key).toBe('127.0.0.1');
    expect(reader({}).read(from({}, 'fe80::1%eth0')).address).toBe('fe80::1');
  });

  it('gives peers without an address one key', () => {
    expect(reader({}).read({ headers: {}, socket: {} }).key).toBe('0.0.0.0');
  });

  it('knows a gateway by its full address', () => {
    const gateways = [parseBlock('2001:db8::7')!, parseBlock('9.9.9.0/24')!];
    const read = (address: string) => reader({ gateways }).read(from({}, address)).gateway;
    expect([read('2001:db8::7'), read('2001:db8::8'), read('9.9.9.200')]).toEqual([
      '2001:db8::7',
      undefined,
      '9.9.9.0/24',
    ]);
  });
});
