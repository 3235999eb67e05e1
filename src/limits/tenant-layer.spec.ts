import { describe, expect, it } from 'vitest';
import type { Identity, IdentityKind } from '../request/credential.js';
import { TenantLayer } from './tenant-layer.js';
import { bucketRate } from './token-bucket.js';

const identity = (fingerprint: string, kind: IdentityKind = 'api-key', tenant = fingerprint): Identity => ({
  kind,
  fingerprint,
  tenant,
  credential: { kind: 'oauth', token: fingerprint },
});
const layer = () => new TenantLayer({ rate: bucketRate(1, 3), maxProven: 1, maxShared: 1 });
const drain = (one: TenantLayer, who: Identity, now: number): number => {
  let taken = 0;
  for (; one.wait(who, now) === 0; taken += 1) one.take(who, now);
  return taken;
};

describe('A tenant bucket', () => {
  it('outlives the proof: neither eviction nor proving again buys a fresh one', () => {
    const one = layer();
    const a = identity('a');
    expect(drain(one, a, 0)).toBe(3);
    one.leave(a, 0);
    one.join(a, 1000);
    expect(drain(one, a, 1000)).toBe(1);
  });

  it('is gone once it has refilled', () => {
    const one = layer();
    const a = identity('a');
    drain(one, a, 0);
    one.leave(a, 0);
    expect(one.count(2999)).toBe(1);
    expect(one.count(3000)).toBe(0);
    one.join(a, 3000);
    expect(drain(one, a, 3000)).toBe(3);
  });

  it('has a place to wait for twice as many as can be proven, and then tells when the first has refilled', () => {
    const one = layer();
    for (const [i, name] of ['a', 'b'].entries()) {
      drain(one, identity(name), i * 100);
      expect(one.waitForPlace(identity(name), i * 100)).toBe(0);
      one.leave(identity(name), i * 100);
    }
    drain(one, identity('c'), 200);
    expect(one.waitForPlace(identity('c'), 200)).toBe(2800);
    expect(one.waitForPlace(identity('full'), 200)).toBe(0);
    expect(one.waitForPlace(identity('c'), 3000)).toBe(0);
  });

  it('of a shared-token identity pushes no tenant out', () => {
    const one = layer();
    for (const name of ['s', 't', 'u']) {
      drain(one, identity(name, 'shared'), 0);
      one.leave(identity(name, 'shared'), 0);
    }
    drain(one, identity('a'), 0);
    expect(one.waitForPlace(identity('a'), 0)).toBe(0);
  });

  it('is one for all tokens of a subject, and is left behind with the last of them', () => {
    const one = layer();
    const [a, b, c] = ['a', 'b', 'c'].map((name) => identity(name, 'oauth', 'subject'));
    for (const who of [a!, b!]) one.join(who, 0);
    expect([drain(one, a!, 0), drain(one, b!, 0)]).toEqual([3, 0]);
    expect(one.waitForPlace(a!, 0)).toBe(0);
    one.leave(a!, 0);
    expect(drain(one, b!, 1000)).toBe(1);
    one.leave(b!, 1000);
    one.join(c!, 1500);
    expect(drain(one, c!, 1500)).toBe(0);
    expect(drain(one, c!, 2000)).toBe(1);
  });

  it('says whether a subject is known: while a token of it is proven, and until what that left has refilled', () => {
    const one = layer();
    const [a, b] = ['a', 'b'].map((name) => identity(name, 'oauth', 'subject'));
    expect(one.knowsSubject(a!, 0)).toBe(false);
    one.join(a!, 0);
    expect(one.knowsSubject(b!, 0)).toBe(true);
    one.take(a!, 0);
    one.leave(a!, 0);
    expect([one.knowsSubject(b!, 999), one.knowsSubject(b!, 1000)]).toEqual([true, false]);
    one.join(identity('key'), 0);
    expect(one.knowsSubject(identity('key'), 0)).toBe(false);
  });
});
