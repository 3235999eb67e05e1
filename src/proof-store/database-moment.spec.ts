import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type DatabaseMoment, toDatabaseTimes, toMonotonicTimes } from './database-moment.js';
import { isAccepted, type StoredProof } from './stored-proof.js';

const NEVER = Number.NEGATIVE_INFINITY;
const DAY_MS = 86_400_000;
const moment: DatabaseMoment = { databaseMs: 1_000_000, beforeMs: 500, afterMs: 540 };
const proof = (acceptedMs: number, usedMs: number, rejectedMs: number): StoredProof => ({
  fingerprint: 'a',
  tenant: 'a',
  acceptedMs,
  usedMs,
  rejectedMs,
});

describe('Times that cross from one machine to another', () => {
  it('are held against the proof where the round trip leaves them unknown', () => {
    expect(toDatabaseTimes(proof(400, 450, NEVER), moment)).toEqual(proof(999_860, 999_910, 0));
    expect(toDatabaseTimes(proof(NEVER, NEVER, 400), moment)).toEqual(proof(0, 0, 999_900));
    expect(toMonotonicTimes(proof(999_860, 999_910, 0), moment)).toEqual(proof(360, 410, NEVER));
    expect(toMonotonicTimes(proof(0, 0, 999_900), moment)).toEqual(proof(NEVER, NEVER, 440));
  });

  it('say what counts of an acceptance and a rejection, in the order that the row has them in', () => {
    expect(toMonotonicTimes(proof(999_801, 1, 999_800), moment)).toMatchObject({ rejectedMs: NEVER });
    expect(toMonotonicTimes(proof(999_800, 1, 999_800), moment)).toMatchObject({ acceptedMs: NEVER, rejectedMs: 340 });
  });

  it('that lie ahead prove nothing yet, and end no later than if they were now', () => {
    const ahead = 1_000_000 + 365 * DAY_MS;
    expect(toMonotonicTimes(proof(ahead, ahead, 0), moment)).toEqual(proof(NEVER, 500, NEVER));
    expect(toMonotonicTimes(proof(0, 0, ahead), moment)).toEqual(proof(NEVER, NEVER, 540));
  });

  it('never make a rejection earlier than an acceptance that came before it, whoever measured which', () => {
    const travel = fc.integer({ min: 0, max: 2_000 });
    fc.assert(
      fc.property(travel, travel, travel, travel, fc.integer({ min: 0, max: DAY_MS }), (t0, t1, t2, t3, gapMs) => {
        const [acceptedMs, rejectedMs] = [5_000, 5_000 + gapMs];
        const askedMs = rejectedMs + 10;
        const read = (there: number, back: number): DatabaseMoment => ({
          databaseMs: 7_000_000 + askedMs + there,
          beforeMs: askedMs,
          afterMs: askedMs + there + back,
        });
        const row = {
          ...toDatabaseTimes(proof(acceptedMs, acceptedMs, NEVER), read(t0, t1)),
          rejectedMs: toDatabaseTimes(proof(NEVER, NEVER, rejectedMs), read(t2, t3)).rejectedMs,
        };
        expect(isAccepted(row)).toBe(false);
        expect(toMonotonicTimes(row, read(t3, t0)).rejectedMs).toBeGreaterThanOrEqual(rejectedMs);
      }),
    );
  });
});
