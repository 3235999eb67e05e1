import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { wholeNumber } from './whole-number.js';

const milliseconds = { from: wholeNumber, to: (value: number) => value };

/**
 * What instances know of one credential's proof, where `TIDB_MCP_PERSIST_PROOF` is on. Times are milliseconds by the
 * database's clock, 0 for never: no column is nullable, since what MariaDB says of a nullable one's default would look
 * like a difference to the migrations. Decision 0019.
 */
@Entity({ name: 'proven_credential' })
@Index('proven_credential_updated', ['updatedAt', 'fingerprint'])
export class ProvenCredentialRow {
  /** SHA-256 of the credential, in hex; the credential itself is kept nowhere. */
  @PrimaryColumn({ type: 'varchar', length: 64 })
  fingerprint!: string;

  /** Who is counted: the tenant as which the credential was accepted last. */
  @Column({ type: 'varchar', length: 64 })
  tenant!: string;

  @Column({ name: 'accepted_at', type: 'bigint', transformer: milliseconds })
  acceptedAt!: number;

  @Column({ name: 'used_at', type: 'bigint', transformer: milliseconds })
  usedAt!: number;

  @Column({ name: 'rejected_at', type: 'bigint', transformer: milliseconds })
  rejectedAt!: number;

  @Column({ name: 'updated_at', type: 'bigint', transformer: milliseconds })
  updatedAt!: number;
}
