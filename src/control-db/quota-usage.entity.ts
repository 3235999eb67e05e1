import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { wholeNumber } from './whole-number.js';

/** The calls of one tenant on one UTC day, over all instances. Contract: "Control database". */
@Entity({ name: 'quota_usage' })
@Index('quota_usage_changed', ['utcDay', 'updatedAt', 'tenant'])
export class QuotaUsage {
  /** The fingerprint. */
  @PrimaryColumn({ type: 'varchar', length: 64 })
  tenant!: string;

  /** `YYYY-MM-DD`. */
  @PrimaryColumn({ name: 'utc_day', type: 'date' })
  utcDay!: string;

  @Column({ type: 'bigint', transformer: { from: wholeNumber, to: (value: number) => value } })
  calls!: number;

  /** Milliseconds since the Unix epoch by the database's clock. */
  @Column({ name: 'updated_at', type: 'bigint', transformer: { from: wholeNumber, to: (value: number) => value } })
  updatedAt!: number;
}
