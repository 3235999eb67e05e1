import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { wholeNumber } from './whole-number.js';

const milliseconds = { from: wholeNumber, to: (value: number) => value };

/**
 * One preflight, and what became of it. Times are milliseconds by the database's clock. No column is nullable: what
 * MariaDB says of one's default would look like a difference to the migrations. Contract: "Control database".
 */
@Entity({ name: 'confirm_nonce' })
@Index('confirm_nonce_expired', ['expiresAt'])
export class ConfirmNonce {
  /** SHA-256 of the confirmation token, in hex; the token itself is kept nowhere. */
  @PrimaryColumn({ name: 'token_hash', type: 'varchar', length: 64 })
  tokenHash!: string;

  /** Who alone may confirm. */
  @Column({ type: 'varchar', length: 64 })
  caller!: string;

  @Column({ type: 'varchar', length: 32 })
  operation!: string;

  /** Keyed digest over the operation, its arguments and the target as it was shown. */
  @Column({ type: 'varchar', length: 64 })
  digest!: string;

  /** The arguments and what was shown, encrypted under a key derived from the token. */
  @Column({ name: 'sealed_plan', type: 'text' })
  sealedPlan!: string;

  @Column({ name: 'created_at', type: 'bigint', transformer: milliseconds })
  createdAt!: number;

  @Column({ name: 'expires_at', type: 'bigint', transformer: milliseconds })
  expiresAt!: number;

  /** When a confirm consumed it; 0 until then. */
  @Column({ name: 'consumed_at', type: 'bigint', transformer: milliseconds })
  consumedAt!: number;

  /** Which confirm consumed it: a UUID of its own for each try; empty until then. */
  @Column({ type: 'varchar', length: 36 })
  attempt!: string;

  /** `done`, `unknown` or `refused_upstream`; empty until the consuming confirm has ended. */
  @Column({ type: 'varchar', length: 32 })
  outcome!: string;

  /** What the consuming confirm answered, encrypted like the plan; empty until then. */
  @Column({ name: 'sealed_result', type: 'text' })
  sealedResult!: string;
}
