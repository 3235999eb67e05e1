import { describe, expect, it } from 'vitest';
import { DigestNonce } from './digest.js';
import type { Outcome } from './outcome.js';
import { HostState, SessionStates } from './session-state.js';

const NONCE = new DigestNonce(
  {
    realm: 'r',
    nonce: 'n',
    opaque: undefined,
    qop: 'auth',
    algorithm: { hash: 'md5', session: false, text: undefined },
  },
  () => 'c',
);

describe('What is kept of a session', () => {
  it('is kept for each session and host by itself', () => {
    const states = new SessionStates();
    const one = { credential: { kind: 'oauth', token: 't' } } as const;
    const same = { credential: { kind: 'oauth', token: 't' } } as const;
    expect(states.of(one, 'iam')).toBe(states.of(one, 'iam'));
    expect(states.of(one, 'iam')).not.toBe(states.of(one, 'serverless'));
    expect(states.of(one, 'iam')).not.toBe(states.of(same, 'iam'));
  });

  it('says how long the upstream limit still lasts, in whole seconds to its very end', () => {
    const state = new HostState();
    expect(state.limitedForSeconds(1000)).toBeUndefined();
    state.learn({ kind: 'rate-limited', retryAfterSeconds: 3 }, undefined, 1000);
    expect([1000, 1001, 3999, 4000].map((ms) => state.limitedForSeconds(ms))).toEqual([3, 3, 1, undefined]);
  });

  it.each<[boolean, Outcome<unknown>]>([
    [true, { kind: 'ok', value: {} }],
    [true, { kind: 'not-found' }],
    [true, { kind: 'forbidden', message: '' }],
    [false, { kind: 'rate-limited', retryAfterSeconds: 1 }],
    [false, { kind: 'unavailable', reason: 'status', sent: true }],
  ])('keeps a nonce (%s) after the outcome %o', (kept, outcome) => {
    const state = new HostState();
    state.learn(outcome, NONCE, 0);
    expect(state.nonce).toBe(kept ? NONCE : undefined);
  });
});
