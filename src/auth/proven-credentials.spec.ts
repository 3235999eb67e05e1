import { beforeEach, describe, expect, it } from 'vitest';
import type { Identity, TenantContext } from '../request/credential.js';
import { ProvenCredentials } from './proven-credentials.js';
import { RevalidationTimes } from './revalidation.js';
import type { BucketOwner, TenantBuckets } from './tenant-buckets.js';

const HOUR = 3_600_000;
const identity = (name: string): Identity => ({
  kind: 'api-key',
  fingerprint: name,
  tenant: name,
  credential: { kind: 'api-key', publicKey: name, privateKey: 'x' },
});
const context = (name: string): TenantContext => ({
  identity: identity(name),
  session: { credential: identity(name).credential },
});

let events: string[];
let placeWait: number;
const buckets: TenantBuckets = {
  waitForPlace: () => placeWait,
  join: ({ fingerprint }) => void events.push(`join ${fingerprint}`),
  leave: ({ fingerprint }) => void events.push(`leave ${fingerprint}`),
};
const listener = {
  proven: ({ fingerprint }: Identity) => void events.push(`proven ${fingerprint}`),
  confirmed: ({ fingerprint }: Identity) => void events.push(`confirmed ${fingerprint}`),
  forgotten: ({ fingerprint }: BucketOwner, reason: string) => void events.push(`${reason} ${fingerprint}`),
};
let random: number;
const maxAge = (ms: number) => ({ revalidation: new RevalidationTimes(ms, () => random) });
const lives = { provenIdleMs: 24 * HOUR, contextIdleMs: HOUR / 2, ...maxAge(0) };
const set = (max = 10, changed: Partial<typeof lives> = {}) =>
  new ProvenCredentials(max, { ...lives, ...changed }, buckets, listener);

beforeEach(() => {
  events = [];
  placeWait = 0;
  random = 0;
});

describe('The set of proven credentials', () => {
  it('does not know a credential that was only presented', () => {
    const proven = set();
    proven.use('a', 0);
    expect([proven.has('a', 0), proven.count(0)]).toEqual([false, 0]);
  });

  it('forgets a credential that the upstream rejects, with its context, but keeps its bucket', () => {
    const proven = set();
    proven.prove(context('a'), 0);
    proven.reject('a', 1);
    expect([proven.has('a', 1), proven.context('a', 1)]).toEqual([false, undefined]);
    expect(events).toEqual(['join a', 'proven a', 'leave a', 'rejected a']);
  });

  it('lets a proof expire 24 hours after it was last used, and not before', () => {
    const proven = set();
    proven.prove(context('a'), 0);
    proven.use('a', HOUR);
    expect([proven.has('a', 25 * HOUR - 1), proven.has('a', 25 * HOUR)]).toEqual([true, false]);
    expect(proven.count(25 * HOUR)).toBe(0);
    expect(events.slice(2)).toEqual(['leave a', 'expired a']);
  });

  it('drops the least recently used credential when there are more than the cap', () => {
    const proven = set(2);
    for (const name of ['a', 'b']) proven.prove(context(name), 0);
    proven.use('a', 1);
    proven.prove(context('c'), 2);
    expect(['a', 'b', 'c'].map((name) => proven.has(name, 2))).toEqual([true, false, true]);
    expect(events).toContain('evicted b');
  });

  it('looks without refreshing anything', () => {
    const proven = set();
    proven.prove(context('a'), 0);
    for (let t = 0; t < 24 * HOUR; t += HOUR) expect(proven.has('a', t)).toBe(true);
    expect(proven.has('a', 24 * HOUR)).toBe(false);
  });

  it('keeps a context for 30 idle minutes, refreshed by every use', () => {
    const proven = set();
    proven.prove(context('a'), 0);
    for (let t = 0; t <= 10 * HOUR; t += HOUR / 4) {
      expect(proven.context('a', t)).toBeDefined();
      proven.use('a', t);
    }
    expect(proven.context('a', 10.5 * HOUR - 1)).toBeDefined();
    expect(proven.context('a', 10.5 * HOUR)).toBeUndefined();
    expect(proven.has('a', 10.5 * HOUR)).toBe(true);
  });

  it('says at a use that even a busy credential is to be validated again, and serves meanwhile for one more interval', () => {
    const proven = set(10, maxAge(HOUR));
    proven.prove(context('a'), 0);
    for (let t = 0; t < HOUR; t += HOUR / 4) expect(proven.use('a', t)).toBe(false);
    for (let t = HOUR; t < 2 * HOUR; t += HOUR / 4) {
      expect(proven.context('a', t)).toBeDefined();
      expect(proven.use('a', t)).toBe(true);
    }
    expect([proven.context('a', 2 * HOUR), proven.has('a', 2 * HOUR)]).toEqual([undefined, true]);
    proven.prove(context('a'), 2 * HOUR);
    expect([proven.context('a', 2 * HOUR), proven.use('a', 3 * HOUR - 1)]).toEqual([context('a'), false]);
    expect(events.filter((event) => event === 'proven a')).toHaveLength(1);
  });

  it('spreads over a quarter of the interval what was validated together', () => {
    const proven = set(10, maxAge(HOUR));
    for (const [name, part] of Object.entries({ a: 0, b: 0.5, c: 0.999 })) {
      random = part;
      proven.prove(context(name), 0);
    }
    const due = (nowMs: number) => ['a', 'b', 'c'].filter((name) => proven.use(name, nowMs));
    expect([due(HOUR - 1), due(HOUR), due(1.125 * HOUR), due(1.25 * HOUR)]).toEqual([
      [],
      ['a'],
      ['a', 'b'],
      ['a', 'b', 'c'],
    ]);
  });

  it('asks again after longer and longer pauses while a revalidation comes to nothing', () => {
    const proven = set(10, maxAge(HOUR));
    proven.prove(context('a'), 0);
    const tries: number[] = [];
    for (let t = 0; t < 2 * HOUR; t += HOUR / 80) {
      if (!proven.use('a', t)) continue;
      proven.noteTry('a', t);
      tries.push(t / HOUR);
    }
    expect(tries).toEqual([1, 1.125, 1.375, 1.875]);
  });

  it('takes no revalidation for a use', () => {
    const proven = set(10, maxAge(HOUR / 4));
    proven.prove(context('a'), 0);
    proven.prove(context('a'), HOUR / 2 - 1);
    expect([proven.context('a', HOUR / 2 - 1), proven.context('a', HOUR / 2)]).toEqual([context('a'), undefined]);
  });

  it('does not take a newcomer in while the bucket that would leave finds no place', () => {
    const proven = set(1);
    proven.prove(context('a'), 0);
    placeWait = 5000;
    expect(proven.waitToProve('b', 1)).toBe(5000);
    expect(proven.waitToProve('a', 1)).toBe(0);
    placeWait = 0;
    expect(proven.waitToProve('b', 1)).toBe(0);
  });

  it('keeps the bucket of an expired proof that finds no place, though it proves nothing any more', () => {
    const proven = set(2);
    proven.prove(context('a'), 0);
    placeWait = 1;
    proven.sweep(24 * HOUR);
    expect([proven.has('a', 24 * HOUR), events.includes('leave a')]).toEqual([false, false]);
    proven.prove(context('a'), 24 * HOUR);
    expect(events).toEqual(['join a', 'proven a', 'expired a', 'proven a']);
  });

  it('holds no secret of an idle context after a sweep', () => {
    const proven = set();
    proven.prove(context('a'), 0);
    proven.prove(context('b'), HOUR);
    proven.sweep(HOUR);
    proven.use('a', HOUR);
    expect([proven.context('a', HOUR), proven.context('b', HOUR)]).toEqual([undefined, context('b')]);
  });
});

describe('A proof that others accepted', () => {
  const restored = (name: string, usedMs: number) => ({
    fingerprint: name,
    tenant: name,
    acceptedMs: usedMs,
    usedMs,
    rejectedMs: Number.NEGATIVE_INFINITY,
  });

  it('holds without anything proven here, and its credential is validated at its first use', () => {
    const proven = set();
    proven.merge([restored('a', -HOUR)], 0);
    expect([proven.has('a', 0), proven.context('a', 0), proven.count(0)]).toEqual([true, undefined, 1]);
    expect(events).toEqual(['join a']);
    proven.prove(context('a'), 1);
    expect([proven.context('a', 1), proven.holdsRestored]).toEqual([context('a'), false]);
    expect(events).toEqual(['join a', 'confirmed a']);
  });

  it('expires 24 hours after it was last used, wherever that was', () => {
    const proven = set();
    proven.merge([restored('a', -HOUR), restored('b', -24 * HOUR)], 0);
    expect([proven.has('b', 0), proven.has('a', 23 * HOUR - 1), proven.has('a', 23 * HOUR)]).toEqual([
      false,
      true,
      false,
    ]);
  });

  it('is prolonged by uses elsewhere, which keep no context alive here', () => {
    const proven = set();
    proven.prove(context('a'), 0);
    for (let t = 0; t <= 30 * HOUR; t += HOUR / 4) proven.merge([restored('a', t)], t);
    expect([proven.has('a', 30 * HOUR), proven.context('a', HOUR / 2)]).toEqual([true, undefined]);
  });

  it('stands in the order of use, so that the ceiling drops whoever was used least recently by anybody', () => {
    const proven = set(3);
    proven.prove(context('a'), 10);
    proven.prove(context('b'), 20);
    proven.merge([restored('a', 25), restored('c', 15), restored('d', 12)], 30);
    expect(['a', 'b', 'c', 'd'].map((name) => proven.has(name, 30))).toEqual([true, true, true, false]);
    proven.prove(context('e'), 31);
    proven.merge([restored('f', 22), restored('g', 5)], 32);
    expect(['a', 'b', 'c', 'e', 'f', 'g'].filter((name) => proven.has(name, 32))).toEqual(['a', 'e', 'f']);
  });

  it('pushes none out whose bucket finds no place', () => {
    const proven = set(1);
    proven.prove(context('a'), 0);
    placeWait = 1;
    proven.merge([restored('b', 5)], 10);
    expect([proven.has('a', 10), proven.has('b', 10)]).toEqual([true, false]);
  });

  it('leaves one tenant’s bucket for another’s where validation says that the credential is somebody else’s', () => {
    const told: string[] = [];
    const named = {
      ...buckets,
      join: ({ tenant }: BucketOwner) => void told.push(`join ${tenant}`),
      leave: ({ tenant }: BucketOwner) => void told.push(`leave ${tenant}`),
    };
    const proven = new ProvenCredentials(10, lives, named, listener);
    proven.merge([{ ...restored('a', 0), tenant: 'subject' }], 0);
    expect(proven.proofOf('a')?.tenant).toBe('subject');
    proven.prove(context('a'), 1);
    expect([told, proven.proofOf('a')?.tenant]).toEqual([['join subject', 'leave subject', 'join a'], 'a']);
  });

  it('makes an expired one hold again that still waits for its bucket, and holds no context of it', () => {
    const proven = set();
    proven.prove(context('a'), 0);
    placeWait = 1;
    proven.merge([restored('a', 24 * HOUR)], 24 * HOUR);
    expect([proven.has('a', 24 * HOUR), proven.context('a', 24 * HOUR)]).toEqual([true, undefined]);
    expect([events.slice(2), proven.holdsRestored]).toEqual([['expired a'], true]);
  });
});
