import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Bookmarks } from '../request/bookmarks.js';
import type { Identity, TenantContext } from '../request/credential.js';
import { ProvenCredentials } from './proven-credentials.js';
import { RevalidationTimes } from './revalidation.js';
import type { BucketOwner } from './tenant-buckets.js';

const MAX_AGE_MS = 350;
const LIVES = { provenIdleMs: 1000, contextIdleMs: 300, revalidation: new RevalidationTimes(MAX_AGE_MS, () => 0) };

const contextOf = (name: string): TenantContext => {
  const credential = { kind: 'api-key', publicKey: name, privateKey: 'x' } as const;
  const identity: Identity = { kind: 'api-key', fingerprint: name, tenant: name, credential };
  return { identity, session: { credential } };
};

/** The same set, written for reading: a list in the order of use, searched from end to end. */
class Model {
  list: { name: string; usedMs: number; validatedMs: number }[] = [];

  constructor(private readonly max: number) {}

  drop(nowMs: number): void {
    this.list = this.list.filter(({ usedMs }) => nowMs - usedMs < LIVES.provenIdleMs);
  }

  prove(name: string, nowMs: number): void {
    this.drop(nowMs);
    const known = this.list.find((one) => one.name === name);
    if (known !== undefined && nowMs - known.usedMs < LIVES.contextIdleMs) {
      known.validatedMs = nowMs;
      return;
    }
    this.list = this.list.filter((one) => one !== known);
    if (this.list.length >= this.max) this.list.shift();
    this.list.push({ name, usedMs: nowMs, validatedMs: nowMs });
  }

  use(name: string, nowMs: number): void {
    this.drop(nowMs);
    const one = this.list.find((entry) => entry.name === name);
    if (one === undefined) return;
    this.list = [...this.list.filter((entry) => entry !== one), { ...one, usedMs: nowMs }];
  }

  hasContext(name: string, nowMs: number): boolean {
    const one = this.list.find((entry) => entry.name === name);
    if (one === undefined) return false;
    return nowMs - one.usedMs < LIVES.contextIdleMs && nowMs - one.validatedMs < 2 * MAX_AGE_MS;
  }
}

const act = fc.record({
  what: fc.constantFrom('prove', 'prove', 'use', 'use', 'reject', 'sweep', 'wait'),
  name: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f'),
  waitMs: fc.oneof(
    { weight: 5, arbitrary: fc.constantFrom(0, 1) },
    fc.constantFrom(100, 299, 300, 350, 700, 999, 1000),
  ),
  looks: fc.boolean(),
});

describe('The set of proven credentials, whatever happens', () => {
  it('holds those that were accepted and used, never more than its ceiling, and forgets nothing by itself too soon', () => {
    fc.assert(
      fc.property(fc.array(act, { maxLength: 60, size: 'max' }), fc.integer({ min: 1, max: 5 }), (acts, max) => {
        const told = new Set<string>();
        const listener = {
          proven: ({ fingerprint }: Identity) => expect(told.has(fingerprint) || !told.add(fingerprint)).toBe(false),
          confirmed: () => expect.unreachable(),
          forgotten: ({ fingerprint }: BucketOwner) => expect(told.delete(fingerprint)).toBe(true),
        };
        const buckets = { waitForPlace: () => 0, join: () => undefined, leave: () => undefined };
        const set = new ProvenCredentials(max, LIVES, buckets, listener);
        const model = new Model(max);
        const marks = new Map(Array.from('abcdef', (one) => [one, new Bookmarks()]));
        let now = 0;
        for (const { what, name, waitMs, looks } of acts) {
          now += waitMs;
          model.drop(now);
          if (what === 'prove' && set.waitToProve(name, now) === 0) {
            set.prove(contextOf(name), now);
            model.prove(name, now);
          }
          // A use is noted of a request that was authenticated, so that its context lives.
          if (what === 'use' && set.context(name, now) !== undefined) {
            const due = set.use(name, now, marks.get(name));
            model.use(name, now);
            expect(due).toBe(now - model.list.at(-1)!.validatedMs >= MAX_AGE_MS);
          }
          if (what === 'reject') {
            set.reject(name, now);
            model.list = model.list.filter((one) => one.name !== name);
          }
          if (what === 'sweep') set.sweep(now);
          for (const one of 'abcdef') {
            const [isProven, hasContext] = [model.list.some((entry) => entry.name === one), model.hasContext(one, now)];
            // A bookmark is as old as its last use: it may stand for an entry that has left and come back since.
            for (const mark of [undefined, looks ? marks.get(one) : undefined]) {
              expect([one, set.has(one, now, mark)]).toEqual([one, isProven]);
              expect([one, set.context(one, now, mark) !== undefined]).toEqual([one, hasContext]);
            }
          }
          expect(set.count(now)).toBe(model.list.length);
          expect(told.size).toBe(model.list.length);
        }
      }),
    );
  });
});
