import type { StoredProof } from './stored-proof.js';

/** A row as it is stored: times by the database's clock, 0 for never. */
export interface ProofRow extends StoredProof {
  /** When the row was last written; of its times only the rejection may be later, by a round trip. */
  readonly updatedAtMs: number;
}

/** How far a read has come: rows are read from the one that was written last. */
export type ProofPosition = Pick<ProofRow, 'updatedAtMs' | 'fingerprint'>;

/** What the database says of itself and of the table. */
export interface ProofSurvey {
  /** The database's clock, milliseconds since the Unix epoch. */
  readonly nowMs: number;
  /** When a row was last written; 0 where there is none. */
  readonly newestMs: number;
}

/**
 * Where proofs are kept between runs and shared between instances. Every method rejects after two seconds at the most.
 */
export interface ProofTable {
  /** Rows of one write at the most. */
  readonly batchRows: number;
  survey(): Promise<ProofSurvey>;
  /** Stores rows, of each of which the later of every two times stays. Doing it twice does no harm. */
  write(rows: readonly StoredProof[]): Promise<void>;
  /** Up to `max` rows written at `fromMs` or later, the last written first, beyond `before` where it is given. */
  read(fromMs: number, before: ProofPosition | undefined, max: number): Promise<ProofRow[]>;
  /**
   * Mends rows written later than `afterMs`: of their times that lie ahead of `nowMs` it drops acceptances, which nobody
   * can tell from before or after a rejection any more, and sets the others to `nowMs`.
   */
  bringBack(nowMs: number, afterMs: number): Promise<void>;
  /**
   * Removes up to `max` rows that were last written before `beforeMs`.
   * @returns how many were removed
   */
  deleteOld(beforeMs: number, max: number): Promise<number>;
}
