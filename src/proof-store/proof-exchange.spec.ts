import { beforeEach, describe, expect, it } from 'vitest';
import { ManualClock } from '../../test/support/manual-clock.js';
import { ModelledProofTable } from '../../test/support/modelled-proof-table.js';
import { ProofExchange, type ProofHolder } from './proof-exchange.js';
import type { StoredProof } from './stored-proof.js';

const HOUR = 3_600_000;
const NEVER = Number.NEGATIVE_INFINITY;
const proof = (fingerprint: string, usedMs: number, rejectedMs = NEVER): StoredProof => ({
  fingerprint,
  tenant: fingerprint,
  acceptedMs: usedMs,
  usedMs,
  rejectedMs,
});

class Holder implements ProofHolder {
  changes: StoredProof[] = [];
  readonly merged: string[][] = [];
  readonly hasRejections = false;

  takeChanges(max: number): StoredProof[] {
    return this.changes.splice(0, max);
  }

  putBack(changes: readonly StoredProof[]): void {
    this.changes.unshift(...changes);
  }

  merge(proofs: readonly StoredProof[]): number {
    this.merged.push(proofs.map(({ fingerprint }) => fingerprint));
    return proofs.length;
  }
}

let clock: ManualClock;
let table: ModelledProofTable;
let written: string[][];
let holder: Holder;
let exchange: ProofExchange;
beforeEach(() => {
  clock = new ManualClock();
  table = new ModelledProofTable(() => clock.utcMs());
  const write = table.write.bind(table);
  written = [];
  table.write = (rows) => {
    written.push(rows.map(({ fingerprint }) => fingerprint));
    return write(rows);
  };
  holder = new Holder();
  const options = { provenIdleMs: 24 * HOUR, provenMax: 10, intervalMs: 30_000 };
  exchange = new ProofExchange(table, holder, clock, options, () => Promise.resolve());
});
const note = (...fingerprints: string[]): void =>
  void (holder.changes = fingerprints.map((one) => proof(one, clock.monotonicMs())));

describe('An exchange of proofs', () => {
  it('comes to an end while credentials are used, and leaves what changed meanwhile for the next one', async () => {
    const write = table.write.bind(table);
    table.write = async (rows) => {
      await write(rows);
      // One that never ends would hang here rather than fail.
      expect(written.length).toBeLessThan(10);
      note('a', 'b');
    };
    note('a', 'b', 'c', 'd');
    await exchange.writeAndRead();
    expect([written, holder.changes.length, holder.merged.length]).toEqual([
      [
        ['a', 'b', 'c'],
        ['a', 'b'],
      ],
      2,
      1,
    ]);
  });

  it('hears of a rejection however many proofs were written after it', async () => {
    await exchange.writeAndRead();
    const at = (): number => clock.utcMs();
    clock.advance(1_000);
    await table.write([{ ...proof('revoked', at() - 500), rejectedMs: at() }]);
    clock.advance(100);
    const newer = Array.from({ length: 2_500 }, (_, n) => ({ ...proof(`f${n}`, at()), rejectedMs: 0 }));
    await table.write(newer);
    clock.advance(30_000);
    await exchange.writeAndRead();
    expect(holder.merged.flat()).toContain('revoked');
  });

  it('writes what has changed since the last one, in the order of fingerprints, and nothing else', async () => {
    note('c', 'a', 'b', 'e', 'd');
    await exchange.writeAndRead();
    await exchange.writeAndRead();
    expect(written).toEqual([
      ['a', 'b', 'c'],
      ['d', 'e'],
    ]);
  });

  it('goes on where it stopped when the database does its part again', async () => {
    note('a', 'b', 'c', 'd');
    table.weather = 'writes-fail';
    await expect(exchange.writeAndRead()).rejects.toThrow('failed');
    expect(holder.changes.map(({ fingerprint }) => fingerprint)).toEqual(['a', 'b', 'c', 'd']);
    table.weather = 'answers-to-writes-are-lost';
    await expect(exchange.writeAndRead()).rejects.toThrow('lost');
    table.weather = 'fair';
    await exchange.writeAndRead();
    expect([...table.rows.keys()].sort()).toEqual(['a', 'b', 'c', 'd']);
    expect(holder.merged.at(-1)?.toSorted()).toEqual(['a', 'b', 'c', 'd']);
  });

  it('reads what was written lately, and everything once an hour', async () => {
    note('a');
    await exchange.writeAndRead();
    clock.advance(600_000);
    note('b');
    await exchange.writeAndRead();
    expect(holder.merged.at(-1)).toEqual(['b', 'a']);
    clock.advance(600_000);
    await exchange.writeAndRead();
    expect(holder.merged.at(-1)).toEqual(['b', 'a']);
    clock.advance(600_000);
    await exchange.read();
    expect(holder.merged.at(-1)).toEqual([]);
    clock.advance(HOUR);
    await exchange.writeAndRead();
    await exchange.read();
    expect(holder.merged.at(-1)).toEqual(['b', 'a']);
  });

  it('removes what is over, and rejections only when every proof of their time is over too', async () => {
    note('used');
    holder.changes.push(proof('rejected', NEVER, clock.monotonicMs()));
    await exchange.writeAndRead();
    await exchange.writeAndRead();
    clock.advance(24 * HOUR);
    await exchange.writeAndRead();
    expect([...table.rows.keys()].sort()).toEqual(['rejected', 'used']);
    clock.advance(HOUR + 60_001);
    await exchange.writeAndRead();
    await exchange.writeAndRead();
    expect([...table.rows.keys()]).toEqual([]);
  });
});
