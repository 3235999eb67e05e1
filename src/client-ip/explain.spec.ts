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
    expect(text).toMatch(/what to do +behind one proxy the depth is 1; with 2, callers write the entry that counts/);
    expect(explained({ depth: 3 }, ['X-Forwarded-For: 1.2.3.4, 10.0.0.2'])).toContain(
      'behind 2 proxies the depth is 2',
    );
  });

  it('says which entry counts, over several lines', () => {
    const text = explained({ depth: 2 }, ['X-Forwarded-For: 6.6.6.6, 1.2.3.4', 'X-Forwarded-For: 10.0.0.2']);
    expect(text).toMatch(/counted under +1\.2\.3\.4, with the pre-auth budget/);
    expect(text).toContain('entry 2 from the right of X-Forwarded-For; behind fewer than 2 proxies');
    expect(explained({ depth: 1 }, ['X-Forwarded-For: 1.2.3.4'])).not.toContain('callers write');
  });

  it('says that nothing is declared, and what it would be behind one proxy', () => {
    const text = explained({}, ['X-Forwarded-For: 6.6.6.6, 1.2.3.4']);
    expect(text).toMatch(/client address +10\.0\.0\.1\n/);
    expect(text).toContain('every header is ignored');
    expect(text).toMatch(/with depth 1 +1\.2\.3\.4, .*TIDB_MCP_TRUSTED_PROXY_DEPTH=1/);
    expect(explained({}, ['X-Forwarded-For: unknown'])).toMatch(/with depth 1 +10\.0\.0\.1 too: .*malformed/);
    expect(explained({}, ['Forwarded: for=1.2.3.4'])).not.toContain('with depth 1');
  });

  it.each([
    [{ header: 'fly-client-ip' }, [], 'fly-client-ip is missing', 'the proxy has to set it in every request'],
    [{ header: 'a' }, ['A: 1.1.1.1, 2.2.2.2'], 'a is no single address', 'the proxy has to set it to one address'],
    [{ depth: 1 }, [], 'X-Forwarded-For is missing', "the proxy has to append the caller's address"],
    [{ depth: 1 }, ['X-Forwarded-For: unknown'], 'number 1 from the right is malformed', 'log what it sends'],
  ])('says what to do where %j does not count in %j', (changed, headers, why, task) => {
    const text = explained(changed, headers);
    expect(text).toContain(why);
    expect(/what to do +(.*)/.exec(text)?.[1]).toContain(task);
  });

  it.each([
    [['nonsense'], '10.0.0.1', "--explain 'nonsense' is not a header line"],
    [['A: b'], 'here', "--from 'here' is not an IP address"],
  ])('says what is wrong with %j from %s', (headers, from, message) => {
    expect(explained({}, headers, from)).toContain(message);
  });
});
