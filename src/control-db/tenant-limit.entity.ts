import { Column, Entity, PrimaryColumn } from 'typeorm';
import { wholeNumber } from './whole-number.js';

const whole = { from: wholeNumber, to: (value: number) => value };

/**
 * The limits that one tenant has instead of the server's. 0 stands for "as everybody": no column is nullable, since what
 * MariaDB says of a nullable one's default would look like a difference to the migrations.
 */
@Entity({ name: 'tenant_limit' })
export class TenantLimitRow {
  /** The tenant's fingerprint; of a shared token, the fingerprint of the token without an address. */
  @PrimaryColumn({ type: 'varchar', length: 64 })
  fingerprint!: string;

  @Column({ name: 'requests_per_second', type: 'double precision' })
  requestsPerSecond!: number;

  @Column({ type: 'bigint', transformer: whole })
  burst!: number;

  @Column({ name: 'calls_per_utc_day', type: 'bigint', transformer: whole })
  callsPerUtcDay!: number;

  /** Milliseconds since the Unix epoch by the clock of whoever set it. */
  @Column({ name: 'updated_at', type: 'bigint', transformer: whole })
  updatedAt!: number;
}
