import { describe, expect, it } from 'vitest';
import type { Credential } from '../request/credential.js';
import { classify } from './classify.js';
import type { HttpAnswer, Proof } from './exchange.js';
import { outcomeLabel, type Outcome } from './outcome.js';

const KEY: Credential = { kind: 'api-key', publicKey: 'public-half', privateKey: 'private-half' };
const ERROR = '{"code":49900002,"message":"not like this","details":[]}';

function classified(
  status: number,
  body: string | undefined,
  proof: Proof = 'fresh',
  headers: HttpAnswer['headers'] = {},
  hasBody = false,
): Outcome<unknown> {
  const answer = { status, headers, body: body === undefined ? undefined : Buffer.from(body, 'latin1') };
  return classify({ kind: 'answered', answer, proof, nonce: undefined }, KEY, 0, hasBody);
}

describe('What an answer comes to', () => {
  it.each<[string, number, string | undefined, Outcome<unknown>]>([
    ['200 with JSON', 200, '{"clusters":[]}', { kind: 'ok', value: { clusters: [] } }],
    ['204', 204, '', { kind: 'ok', value: undefined }],
    ['200 with HTML', 200, '<html>', { kind: 'unavailable', reason: 'body', sent: true }],
    ['200 with nothing', 200, '', { kind: 'unavailable', reason: 'body', sent: true }],
    ['200 with a body that is no UTF-8', 200, '"\xff"', { kind: 'unavailable', reason: 'body', sent: true }],
    ['200 with a body over the cap', 200, undefined, { kind: 'unavailable', reason: 'body', sent: true }],
    ['307', 307, '', { kind: 'unavailable', reason: 'status', sent: true }],
    ['400', 400, ERROR, { kind: 'invalid', message: 'TiDB Cloud refused the request (code 49900002): not like this' }],
    [
      '403',
      403,
      ERROR,
      { kind: 'forbidden', message: 'TiDB Cloud does not allow this (code 49900002): not like this' },
    ],
    ['404', 404, ERROR, { kind: 'not-found' }],
    [
      '409',
      409,
      ERROR,
      { kind: 'conflict', message: 'TiDB Cloud cannot do this in the present state (code 49900002): not like this' },
    ],
    ['403 of a firewall', 403, '<html>', { kind: 'unavailable', reason: 'status', sent: true }],
    ['404 of a gateway', 404, '{"message":"no Route matched"}', { kind: 'unavailable', reason: 'status', sent: true }],
    ['500', 500, ERROR, { kind: 'unavailable', reason: 'status', sent: true }],
    ['503', 503, 'down', { kind: 'unavailable', reason: 'status', sent: true }],
  ])('of %s', (_title, status, body, outcome) => {
    expect(classified(status, body)).toEqual(outcome);
  });

  it('of 429 is a wait, whoever says so and however the request was signed', () => {
    for (const proof of ['none', 'kept', 'fresh', 'bearer'] as const) {
      const outcome = classified(429, '<html>', proof, { 'x-ratelimit-reset': '23' });
      expect(outcome).toEqual({ kind: 'rate-limited', retryAfterSeconds: 23 });
    }
  });

  it('of a 403 to an unsigned request says nothing about the credential', () => {
    expect(classified(403, ERROR, 'none')).toEqual({ kind: 'unavailable', reason: 'status', sent: false });
  });

  it('of a success counts although nobody asked for the credential', () => {
    expect(classified(200, '{}', 'none')).toEqual({ kind: 'ok', value: {} });
  });

  it('of a success to a probe that left the body out is unknown: who can say what was carried out', () => {
    const outcome = classified(200, '{}', 'none', {}, true);
    expect(outcome).toEqual({ kind: 'unavailable', reason: 'status', sent: true });
  });

  it.each([
    ['an unsigned request that broke off', 'none', true, false],
    ['a signed request that broke off', 'fresh', true, true],
    ['a request under a kept nonce that broke off', 'kept', true, true],
    ['a signed request that was never written', 'fresh', false, false],
  ] as const)('of %s tells whether it may have been carried out', (_title, proof, written, sent) => {
    const outcome = classify({ kind: 'failed', failure: { failed: 'connection', written }, proof }, KEY, 0, false);
    expect(outcome).toEqual({ kind: 'unavailable', reason: 'connection', sent });
  });

  it('of a 401 that cannot be answered was surely not carried out', () => {
    expect(classify({ kind: 'unanswerable' }, KEY, 0, false)).toEqual({
      kind: 'unavailable',
      reason: 'status',
      sent: false,
    });
  });

  it('has one fixed word as its metric label', () => {
    const outcomes: Outcome<unknown>[] = [
      { kind: 'ok', value: 1 },
      { kind: 'not-found' },
      { kind: 'rate-limited', retryAfterSeconds: 1 },
      { kind: 'unavailable', reason: 'timeout', sent: true },
    ];
    expect(outcomes.map(outcomeLabel)).toEqual(['ok', 'not_found', 'rate_limited', 'unavailable_timeout']);
  });
});
