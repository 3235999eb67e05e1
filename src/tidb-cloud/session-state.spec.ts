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
    expect(states.of(one).hosts.iam).toBe(states.of(one).hosts.iam);
    expect(states.of(one).hosts.iam).not.toBe(states.of(one).hosts.serverless);
    expect(states.of(one).minute).toBe(states.of(one).minute);
    expect(states.of(one).hosts.iam).not.toBe(states.of(same).hosts.iam);
    expect(states.of(one).minute).not.toBe(states.of(same).minute);
  });

  it.each<[boolean, Outcome<unknown>]>([
    [true, { kind: 'ok', value: {} }],
    [true, { kind: 'not-found' }],
    [true, { kind: 'forbidden', message: '' }],
    [false, { kind: 'rate-limited', retryAfterSeconds: 1 }],
    [false, { kind: 'unavailable', reason: 'status', sent: true }],
  ])('keeps a nonce (%s) after the outcome %o', (kept, outcome) => {
    const state = new HostState();
    state.learn(outcome, NONCE);
    expect(state.nonce).toBe(kept ? NONCE : undefined);
  });
});
