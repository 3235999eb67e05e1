import type { ProofPosition, ProofRow, ProofSurvey, ProofTable } from '../../src/proof-store/proof-table.js';
import type { StoredProof } from '../../src/proof-store/stored-proof.js';

/** What becomes of what an instance sends. */
export type Weather = 'fair' | 'away' | 'writes-fail' | 'answers-to-writes-are-lost';

/** The table of proofs in memory, written for reading; its clock and its weather are the test's. */
export class ModelledProofTable implements ProofTable {
  readonly batchRows = 3;
  readonly rows = new Map<string, ProofRow>();
  weather: Weather = 'fair';

  /**
   * @param clockMs the database's clock
   * @param travel lets a message take its time
   */
  constructor(
    private readonly clockMs: () => number,
    private readonly travel: () => void = () => undefined,
  ) {}

  survey(): Promise<ProofSurvey> {
    return this.answer(() => {
      const newestMs = Math.max(0, ...[...this.rows.values()].map((row) => row.updatedAtMs));
      return { nowMs: this.clockMs(), newestMs };
    });
  }

  write(rows: readonly StoredProof[]): Promise<void> {
    if (this.weather === 'writes-fail') return Promise.reject(new Error('failed'));
    return this.answer(() => {
      for (const row of rows) this.rows.set(row.fingerprint, this.later(row, this.rows.get(row.fingerprint)));
      if (this.weather !== 'fair') throw new Error('lost');
    });
  }

  read(fromMs: number, before: ProofPosition | undefined, max: number): Promise<ProofRow[]> {
    const behind = ({ updatedAtMs: at, fingerprint }: ProofRow): boolean =>
      before === undefined ||
      at < before.updatedAtMs ||
      (at === before.updatedAtMs && fingerprint < before.fingerprint);
    const order = (a: ProofRow, b: ProofRow): number =>
      b.updatedAtMs - a.updatedAtMs || (a.fingerprint < b.fingerprint ? 1 : -1);
    return this.answer(() =>
      [...this.rows.values()]
        .filter((row) => row.updatedAtMs >= fromMs && behind(row))
        .sort(order)
        .slice(0, max),
    );
  }

  bringBack(nowMs: number, afterMs: number): Promise<void> {
    return this.answer(() => {
      for (const [key, row] of this.rows) {
        if (row.updatedAtMs <= afterMs) continue;
        const acceptedMs = row.acceptedMs > nowMs ? 0 : row.acceptedMs;
        const [usedMs, rejectedMs] = [Math.min(row.usedMs, nowMs), Math.min(row.rejectedMs, nowMs)];
        this.rows.set(key, { ...row, acceptedMs, usedMs, rejectedMs, updatedAtMs: nowMs });
      }
    });
  }

  deleteOld(beforeMs: number, max: number): Promise<number> {
    return this.answer(() => {
      const old = [...this.rows].filter(([, row]) => row.updatedAtMs < beforeMs).slice(0, max);
      for (const [key] of old) this.rows.delete(key);
      return old.length;
    });
  }

  private later(row: StoredProof, known: ProofRow | undefined): ProofRow {
    if (known === undefined) return { ...row, updatedAtMs: this.clockMs() };
    return {
      fingerprint: row.fingerprint,
      tenant: row.acceptedMs >= known.acceptedMs ? row.tenant : known.tenant,
      acceptedMs: Math.max(row.acceptedMs, known.acceptedMs),
      usedMs: Math.max(row.usedMs, known.usedMs),
      rejectedMs: Math.max(row.rejectedMs, known.rejectedMs),
      updatedAtMs: this.clockMs(),
    };
  }

  private async answer<T>(work: () => T): Promise<T> {
    this.travel();
    if (this.weather === 'away') throw new Error('away');
    const result = work();
    this.travel();
    return Promise.resolve(result);
  }
}
