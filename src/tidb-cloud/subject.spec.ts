import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { HttpAnswer } from './exchange.js';
import { readSubject } from './subject.js';

const answer = (status: number, body?: string, headers: HttpAnswer['headers'] = {}): HttpAnswer => ({
  status,
  headers,
  body: body === undefined ? undefined : Buffer.from(body),
});

describe('The subject of an OAuth token', () => {
  it('is what a success of the userinfo endpoint names, character by character', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1, maxLength: 255, unit: 'binary' }), (subject) => {
        const body = JSON.stringify({ email: 'a@b.example', sub: subject });
        expect(readSubject(answer(200, body), 0)).toEqual({ kind: 'known', subject });
      }),
    );
  });

  it('is in no other answer, whatever its body says; and only a 401 rejects the token', () => {
    fc.assert(
      fc.property(fc.integer({ min: 201, max: 599 }), (status) => {
        const { kind } = readSubject(answer(status, '{"sub":"mei"}'), 0);
        expect(kind).toBe(status === 401 ? 'rejected' : 'unavailable');
      }),
    );
  });

  it('is in no body but an object with a text of its own', () => {
    const body = fc.oneof(
      fc.json(),
      fc.string(),
      fc.jsonValue().map((sub) => JSON.stringify(typeof sub === 'string' ? { subject: sub } : { sub })),
      fc.constantFrom('{"sub":""}', JSON.stringify({ sub: 'm'.repeat(256) }), '{"__proto__":{"sub":"mei"}}'),
    );
    fc.assert(
      fc.property(fc.option(body, { nil: undefined }), (text) => {
        expect(readSubject(answer(200, text), 0).kind).toBe('unavailable');
      }),
    );
  });

  it('is told later where the endpoint asks to wait', () => {
    const busy = readSubject(answer(429, '', { 'retry-after': '7' }), 0);
    expect(busy).toEqual({ kind: 'unavailable', reason: 'status', retryAfterSeconds: 7 });
  });
});
