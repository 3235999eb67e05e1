import { Column, Entity, PrimaryColumn } from 'typeorm';
import { wholeNumber } from './whole-number.js';

/** One running server and the last batch of counts that is stored of it. Contract: "Control database". */
@Entity({ name: 'quota_instance' })
export class QuotaInstance {
  /** A UUID of this run, not of the machine. */
  @PrimaryColumn({ name: 'instance_id', type: 'varchar', length: 36 })
  instanceId!: string;

  @Column({ name: 'last_batch', type: 'bigint', transformer: { from: wholeNumber, to: (value: number) => value } })
  lastBatch!: number;

  /** Milliseconds since the Unix epoch by the database's clock. */
  @Column({ name: 'seen_at', type: 'bigint', transformer: { from: wholeNumber, to: (value: number) => value } })
  seenAt!: number;
}
