import { describe, expect, it } from 'vitest';
import type { ClientAddressOptions } from './client-address.js';
import { explainClientAddress } from './explain.js';

const options = (changed: Partial<ClientAddressOptions>): ClientAddressOptions => ({
  header: undefined,
  depth: 0,
  ipv6Prefix: 64,
  gateways: [],
  ...changed,
});
const explained = (changed: Partial<ClientAddressOptions>, headers: string[], from = '10.0.0.1'): string => {
  const result = explainClientAddress(options(changed), headers, from);
  return result.ok ? result.lines.join('\n') : result.message;
};

describe('Explaining the client address', () => {
  it('says that a depth which is one too large falls back to the proxy, and why', () => {
    const text = explained({ depth: 2 }, ['X-Forwarded-For: 1.2.3.4']);
    expect(text).toMatch(/client address +10\.0\.0\.1/);
    expect(text).toContain('fallback: X-Forwarded-For has 1 entry, and the depth is 2');
  });

  it('says which entry counts, over several lines', () => {
    const text = explained({ depth: 2 }, ['X-Forwarded-For: 6.6.6.6, 1.2.3.4', 'X-Forwarded-For: 10.0.0.2']);
    expect(text).toMatch(/counted under +1\.2\.3\.4, with the pre-auth budget/);
    expect(text).toContain('entry 2 from the right');
  });

  it('says that nothing is declared', () => {
    expect(explained({}, ['X-Forwarded-For: 1.2.3.4'])).toContain('every header is ignored');
  });

  it('says that a declared header is missing', () => {
    expect(explained({ header: 'fly-client-ip' }, [])).toContain('fly-client-ip is missing');
  });

  it.each([
    [['nonsense'], '10.0.0.1', "--explain 'nonsense' is not a header line"],
    [['A: b'], 'here', "--from 'here' is not an IP address"],
  ])('says what is wrong with %j from %s', (headers, from, message) => {
    expect(explained({}, headers, from)).toContain(message);
  });
});
