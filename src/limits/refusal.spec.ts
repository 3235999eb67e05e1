import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Limit } from '../request/request-context.js';
import { renderRefusal } from './refusal.js';

const parse = (limit: Limit, surface: 'mcp' | 'v1' | 'other', modern = false, retryAfterSeconds = 3) =>
  JSON.parse(renderRefusal({ limit, retryAfterSeconds }, { surface, modern }).body);

describe('What you get when you hit a limit', () => {
  it('is a JSON-RPC error on /mcp, with the bytes that the spec shows', () => {
    const { error, ...envelope } = parse('tenant', 'mcp');
    expect(envelope).toEqual({ jsonrpc: '2.0', id: null });
    expect(error.code).toBe(-32002);
    expect(error.message).toMatch(/^Rate limited: this API key exceeded its per-second request limit\. Retry in 3s\./);
    expect(error.data).toEqual({ limit: 'tenant', code: 'TENANT_RATE_LIMITED', retryAfterSeconds: 3 });
    expect(parse('tenant', 'other')).toEqual({ ...envelope, error });
  });

  it('has the HTTP status for a code and no id for the revision that forbids the reserved range', () => {
    const body = parse('tenant', 'mcp', true);
    expect([body.error.code, 'id' in body]).toEqual([429, false]);
  });

  it('is an RFC 9457 problem on /v1', () => {
    const rendered = renderRefusal({ limit: 'global', retryAfterSeconds: 2 }, { surface: 'v1', modern: false });
    expect(rendered.contentType).toBe('application/problem+json');
    expect(JSON.parse(rendered.body)).toMatchObject({
      type: expect.any(String),
      title: expect.any(String),
      status: 429,
      detail: expect.stringContaining('the server as a whole is busy'),
      limit: 'global',
      code: 'GLOBAL_RATE_LIMITED',
      retryAfterSeconds: 2,
    });
  });

  it.each([
    ['preauth', 'PREAUTH_RATE_LIMITED', /^Rate limited: /],
    ['tenant', 'TENANT_RATE_LIMITED', /^Rate limited: this API key/],
    ['quota', 'TENANT_QUOTA_EXHAUSTED', /^Quota exhausted: .*stop retrying with this key.*report/is],
    ['global', 'GLOBAL_RATE_LIMITED', /^Rate limited: .*server as a whole.*not about your API key/],
  ] as const)('names the layer %s as %s in a sentence an agent can act on', (limit, code, sentence) => {
    const { error } = parse(limit, 'mcp');
    expect(error.data).toMatchObject({ limit, code });
    expect(error.message).toMatch(sentence);
  });

  it('says the wait in the sentence too, since many clients show nothing else', () => {
    fc.assert(
      fc.property(
        fc.constantFrom('preauth', 'tenant', 'quota', 'global'),
        fc.integer({ min: 1, max: 86_400 }),
        (limit, seconds) => {
          const rendered = renderRefusal({ limit, retryAfterSeconds: seconds }, { surface: 'mcp', modern: false });
          expect(rendered.retryAfter).toBe(String(seconds));
          expect(JSON.parse(rendered.body).error.message).toContain(`${seconds}s`);
        },
      ),
    );
  });
});
