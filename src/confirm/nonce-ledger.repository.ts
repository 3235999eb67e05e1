import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { ConfirmNonce } from '../control-db/confirm-nonce.entity.js';
import { ControlDatabaseService } from '../control-db/control-database.service.js';
import { wholeNumber } from '../control-db/whole-number.js';
import type { ConfirmOutcome } from './performed.js';

/** A preflight to be kept. */
export interface NonceEntry {
  readonly tokenHash: string;
  readonly caller: string;
  readonly operation: string;
  readonly digest: string;
  readonly sealedPlan: string;
}

/** A preflight as it is kept, at a moment of the database's clock. */
export type NonceRow = ConfirmNonce & { readonly nowMs: number };

/** What a row says as long as no confirm has consumed it. */
const UNUSED = { consumedAt: 0, attempt: '', outcome: '', sealedResult: '' } as const;

/** The try of a confirm that has consumed a row. */
export interface Attempt {
  readonly tokenHash: string;
  readonly attempt: string;
}

/**
 * The ledger of confirmations in the control database. Time is the database's, so that all instances agree on it.
 * Every method rejects with a DatabaseError where the database does not answer.
 */
@Injectable()
export class NonceLedger {
  /** Whoever calls right after the start waits for the first try to connect instead of being told that it is away. */
  private readonly firstTry: Promise<void>;

  constructor(private readonly database: ControlDatabaseService) {
    this.firstTry = new Promise((resolve) => database.listen({ connected: resolve, connectFailed: () => resolve() }));
  }

  /** Asks whether it answers at all. */
  async ask(): Promise<void> {
    if (!this.database.isConnected) await this.firstTry;
    await this.database.run((manager) => this.nowMs(manager));
  }

  /**
   * Keeps a preflight.
   * @returns when it expires, in milliseconds by the database's clock
   */
  add(entry: NonceEntry, lifeMs: number): Promise<number> {
    return this.database.run(async (manager) => {
      const createdAt = await this.nowMs(manager);
      const expiresAt = createdAt + lifeMs;
      await manager.insert(ConfirmNonce, { ...entry, ...UNUSED, createdAt, expiresAt });
      return expiresAt;
    });
  }

  /** The row of a token, whoever it belongs to. */
  async find(tokenHash: string): Promise<NonceRow | undefined> {
    if (!this.database.isConnected) await this.firstTry;
    return this.database.run(async (manager) => {
      const query = manager.getRepository(ConfirmNonce).createQueryBuilder('n');
      const { entities, raw } = await query
        .addSelect(this.database.dialect.nowMs, 'now_ms')
        .where('n.tokenHash = :tokenHash', { tokenHash })
        .getRawAndEntities<{ now_ms: unknown }>();
      const [row] = entities;
      return row === undefined ? undefined : Object.assign(row, { nowMs: wholeNumber(raw[0]?.now_ms) });
    });
  }

  /**
   * The one conditional update that consumes a confirmation: once over all instances, by its caller, within its life,
   * for what was shown.
   * @returns whether this try won it
   */
  consume({ tokenHash, attempt }: Attempt, caller: string, digest: string): Promise<boolean> {
    const { nowMs } = this.database.dialect;
    // A transaction, though it is one statement: only then is it known whether a failed one may be stored.
    return this.database.transaction(async (manager) => {
      const { affected } = await this.update(manager)
        .set({ consumedAt: () => nowMs, attempt })
        .where('token_hash = :tokenHash AND caller = :caller AND digest = :digest', { tokenHash, caller, digest })
        .andWhere(`consumed_at = 0 AND expires_at > ${nowMs}`)
        .execute();
      return affected === 1;
    });
  }

  /** Notes how the try ended that has consumed the row; a row that is not its own stays as it is. */
  settle({ tokenHash, attempt }: Attempt, outcome: ConfirmOutcome, sealedResult: string): Promise<void> {
    return this.database.run(async (manager) => {
      await this.update(manager)
        .set({ outcome, sealedResult })
        .where('token_hash = :tokenHash AND attempt = :attempt AND outcome = :open', {
          tokenHash,
          attempt,
          open: UNUSED.outcome,
        })
        .execute();
    });
  }

  /** Gives the confirmation back that a try has consumed which surely performed nothing. */
  release({ tokenHash, attempt }: Attempt): Promise<void> {
    return this.database.run(async (manager) => {
      await this.update(manager)
        .set(UNUSED)
        .where('token_hash = :tokenHash AND attempt = :attempt AND outcome = :open', {
          tokenHash,
          attempt,
          open: UNUSED.outcome,
        })
        .execute();
    });
  }

  /**
   * Removes up to `max` rows that expired more than `ageMs` ago.
   * @returns how many were removed
   */
  deleteExpired(ageMs: number, max: number): Promise<number> {
    const { deletesInOrder, placeholder } = this.database.dialect;
    const chosen = `FROM confirm_nonce WHERE expires_at < ${placeholder(1)} ORDER BY expires_at LIMIT ${max}`;
    const sql = deletesInOrder
      ? `DELETE ${chosen}`
      : `DELETE FROM confirm_nonce WHERE token_hash IN (SELECT token_hash ${chosen})`;
    return this.database.run(async (manager) => {
      const before = (await this.nowMs(manager)) - ageMs;
      const result = await manager.queryRunner?.query(sql, [before], true);
      return result?.affected ?? 0;
    });
  }

  private update(manager: EntityManager) {
    return manager.getRepository(ConfirmNonce).createQueryBuilder().update();
  }

  private async nowMs(manager: EntityManager): Promise<number> {
    const [row] = await manager.query<[{ now_ms: unknown }]>(`SELECT ${this.database.dialect.nowMs} AS now_ms`);
    return wholeNumber(row.now_ms);
  }
}
