import { Logger } from '@nestjs/common';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Environment } from '../config/otlp-endpoint.js';
import { configOf } from '../config/parse-config.js';
import { ClientIpService } from './client-ip.service.js';

beforeEach(() => void vi.spyOn(Logger.prototype, 'warn').mockImplementation(() => undefined));
afterEach(() => void vi.restoreAllMocks());

/** What is logged over requests with these headers, one after the other. */
function warnings(env: Environment, requests: readonly Record<string, string>[]): string[] {
  const service = new ClientIpService(configOf(env));
  for (const headers of requests) {
    const request = { headers, socket: { remoteAddress: '10.0.0.1' } };
    service.warnOf(service.read(request), request);
  }
  return vi.mocked(Logger.prototype.warn).mock.calls.map(([text]) => String(text));
}

describe('The operator is warned, once', () => {
  it('that callers can write the entry that counts, where the depth is too large', () => {
    const told = warnings({ TIDB_MCP_TRUSTED_PROXY_DEPTH: '2' }, [
      { 'x-forwarded-for': '1.2.3.4' },
      { 'x-forwarded-for': '1.2.3.5' },
    ]);
    expect(told).toEqual([
      expect.stringContaining(
        'X-Forwarded-For has 1 entry, and the depth is 2: behind one proxy the depth is 1; with 2, callers write the entry that counts.',
      ),
    ]);
    expect(told.join()).not.toContain('1.2.3.4');
  });

  it.each([
    ['X-Forwarded-For', { 'x-forwarded-for': '1.2.3.4' }],
    ['Forwarded', { forwarded: 'for=1.2.3.4' }],
  ])('that %s is ignored while no source is declared', (name, headers) => {
    const told = warnings({}, [{}, headers, headers]);
    expect(told).toEqual([expect.stringMatching(`^A request brought ${name}, which is ignored`)]);
    expect(told[0]).toContain('TIDB_MCP_TRUSTED_PROXY_DEPTH or TIDB_MCP_CLIENT_IP_HEADER');
    expect(told[0]).not.toContain('1.2.3.4');
  });

  it('of nothing while addresses come from where they are declared, or callers bring no such header', () => {
    expect(warnings({ TIDB_MCP_TRUSTED_PROXY_DEPTH: '1' }, [{ 'x-forwarded-for': '1.2.3.4' }])).toEqual([]);
    expect(warnings({}, [{ 'x-real-ip': '1.2.3.4' }])).toEqual([]);
  });
});
