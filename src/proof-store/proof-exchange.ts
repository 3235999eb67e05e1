import type { Clock } from '../clock/clock.js';
import { type DatabaseMoment, toDatabaseTimes, toMonotonicTimes } from './database-moment.js';
import type { ProofPosition, ProofTable } from './proof-table.js';
import type { StoredProof } from './stored-proof.js';

/** Rows of one page, few enough that handling them never holds the event loop for long. */
const PAGE_ROWS = 1_000;

/**
 * How far each read reaches back before the last one, by the database's clock, and how far ahead of it a row may have
 * been written before the clock counts as set back. No write lasts this long.
 */
export const OVERLAP_MS = 60_000;

/** Everything is read again this often, for what an operator changed unseen, and what is over is removed. */
const TIDY_EVERY_MS = 3_600_000;
const TIDY_ROWS = 500;
const TIDY_STEPS = 200;

/** Whose proofs are exchanged. All times are milliseconds of the monotonic clock. */
export interface ProofHolder {
  /** Takes up to `max` proofs that have something to tell; none: there is nothing more. */
  takeChanges(max: number): StoredProof[];
  /** Whether somebody takes a credential for proven that this instance saw rejected, and has to hear of it. */
  readonly hasRejections: boolean;
  /** Takes back what could not be told. */
  putBack(changes: readonly StoredProof[]): void;
  /**
   * Takes in what the others know.
   * @returns how many of them are proven
   */
  merge(proofs: readonly StoredProof[]): number;
}

/** What an exchange goes by. */
export interface ExchangeOptions {
  /** A proof ends this long after its last use. */
  readonly provenIdleMs: number;
  /** Proofs held at once; no more are read. */
  readonly provenMax: number;
  /** How often instances write at the least. */
  readonly intervalMs: number;
}

/**
 * Tells the others of this instance's proofs and takes theirs in, by rows of the control database. Every method rejects
 * where the database did not do its part; nothing is lost then, and the next exchange goes on where this one stopped.
 */
export class ProofExchange {
  /** How far everything was read, by the database's clock; undefined: read all. */
  private watermarkMs: number | undefined;
  private tidiedAtMs = Number.NEGATIVE_INFINITY;

  /** @param pause lets the event loop do something else between batches and pages */
  constructor(
    private readonly table: ProofTable,
    private readonly holder: ProofHolder,
    private readonly clock: Clock,
    private readonly options: ExchangeOptions,
    private readonly pause: () => Promise<void>,
  ) {}

  /** Writes what has changed here, then reads what has changed anywhere. */
  async writeAndRead(): Promise<void> {
    const moment = await this.survey();
    await this.writeChanges(moment);
    const isLoad = this.watermarkMs === undefined;
    await this.readChanges(moment);
    // Somebody may be waiting for what is loaded.
    if (!isLoad) await this.tidy(moment);
  }

  /** Reads what has changed anywhere. */
  async read(): Promise<void> {
    await this.readChanges(await this.survey());
  }

  /** Writes what has changed here. */
  async write(): Promise<void> {
    await this.writeChanges(await this.survey());
  }

  /** Reads the database's clock, and mends what it wrote while it was ahead: no proof may last until that day. */
  private async survey(): Promise<DatabaseMoment> {
    const beforeMs = this.clock.monotonicMs();
    const { nowMs: databaseMs, newestMs } = await this.table.survey();
    const afterMs = this.clock.monotonicMs();
    if (newestMs > databaseMs + OVERLAP_MS) await this.table.bringBack(databaseMs, databaseMs + OVERLAP_MS);
    if (this.watermarkMs !== undefined && databaseMs < this.watermarkMs) this.watermarkMs = undefined;
    return { databaseMs, beforeMs, afterMs };
  }

  private async writeChanges(moment: DatabaseMoment): Promise<void> {
    for (;;) {
      const changes = this.holder.takeChanges(this.table.batchRows);
      if (changes.length === 0) return;
      // In one order for all instances, so that none waits for another in a circle.
      const rows = changes.map((proof) => toDatabaseTimes(proof, moment)).sort(byFingerprint);
      try {
        await this.table.write(rows);
      } catch (error) {
        this.holder.putBack(changes);
        throw error;
      }
      // What changed while this was written is for the next time, or a busy server would never come to an end.
      if (changes.length < this.table.batchRows) return;
      await this.pause();
    }
  }

  private async readChanges(moment: DatabaseMoment): Promise<void> {
    const { watermarkMs } = this;
    const fromMs = watermarkMs === undefined ? moment.databaseMs - this.keepMs : watermarkMs - OVERLAP_MS;
    // What is news is read to its end: behind all that was proven may stand a rejection.
    const most = watermarkMs === undefined ? this.options.provenMax : Number.POSITIVE_INFINITY;
    let before: ProofPosition | undefined;
    for (let proven = 0; proven < most;) {
      const page = await this.table.read(fromMs, before, PAGE_ROWS);
      proven += this.holder.merge(page.map((row) => toMonotonicTimes(row, moment)));
      if (page.length < PAGE_ROWS) break;
      before = page.at(-1);
      await this.pause();
    }
    this.watermarkMs = moment.databaseMs;
    if (this.holder.hasRejections) await this.writeChanges(moment);
  }

  /** Rows are of use while their proof may hold, and a rejection until all have heard of it. */
  private get keepMs(): number {
    return Math.max(this.options.provenIdleMs, 3 * this.options.intervalMs) + OVERLAP_MS;
  }

  private async tidy({ databaseMs, afterMs }: DatabaseMoment): Promise<void> {
    if (afterMs - this.tidiedAtMs < TIDY_EVERY_MS) return;
    this.tidiedAtMs = afterMs;
    this.watermarkMs = undefined;
    for (let step = 0; step < TIDY_STEPS; step += 1) {
      const removed = await this.table.deleteOld(databaseMs - this.keepMs, TIDY_ROWS);
      if (removed < TIDY_ROWS) return;
      await this.pause();
    }
  }
}

function byFingerprint(a: StoredProof, b: StoredProof): number {
  return a.fingerprint < b.fingerprint ? -1 : 1;
}
