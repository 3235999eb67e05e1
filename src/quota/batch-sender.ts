import { DatabaseError } from '../control-db/database-error.js';
import type { QuotaOutbox } from './quota-outbox.js';
import type { QuotaRow } from './quota-row.js';
import type { QuotaStore } from './quota-store.js';

interface Batch {
  readonly number: number;
  /** In the one order in which every instance locks rows. */
  readonly rows: readonly QuotaRow[];
  /** An earlier try may have been stored. */
  ambiguous: boolean;
}

/** How a batch ended that is not in flight any more; `renewed`: not stored, and the instance has a new id. */
export type SendResult = 'stored' | 'renewed';

/**
 * Sends numbered batches of one instance strictly in order: the next number is used only once this one is known to be
 * stored. A batch whose outcome is unknown is sent again under its number, so that a lost answer counts neither twice
 * nor never. Design: "A flush takes what is pending into numbered batches".
 */
export class BatchSender {
  private instance: string;
  private lastBatch = 0;
  private registered = false;
  private unknown: Batch | undefined;
  /** On its way at this moment. */
  private sending: Batch | undefined;

  /** @param dropped told of calls in a batch of unknown outcome that can't be resolved any more */
  constructor(
    private readonly store: QuotaStore,
    private readonly outbox: QuotaOutbox,
    private readonly newInstanceId: () => string,
    private readonly dropped: (calls: number) => void,
  ) {
    this.instance = newInstanceId();
  }

  /** Rows that {@link send} takes at the most. */
  get batchRows(): number {
    return this.store.batchRows;
  }

  /** The name under which this instance's batches are numbered. */
  get instanceId(): string {
    return this.instance;
  }

  /** Whether a batch may or may not be stored; no total can be adopted then. */
  get isUncertain(): boolean {
    return this.unknown !== undefined;
  }

  /** Whether a batch is on its way: nobody knows yet whether it will be stored. */
  get isSending(): boolean {
    return this.sending !== undefined;
  }

  /** Calls in the batch of which nobody knows whether it is stored, or not yet. */
  get uncertainCalls(): number {
    const batch = this.unknown ?? this.sending;
    return batch === undefined ? 0 : callsOf(batch);
  }

  /** Whether a new batch may be sent. */
  get isReady(): boolean {
    return this.registered && !this.isUncertain;
  }

  /** Makes ready for a new batch: the instance's row is there, and a batch of unknown outcome is resolved. */
  async prepare(): Promise<void> {
    if (!this.registered) await this.register();
    if (this.unknown === undefined) return;
    const result = await this.attempt(this.unknown);
    if (result === 'renewed') await this.register();
  }

  /**
   * Sends rows whose calls were put in flight as the next batch. When it rejects, their calls are unsent again, or in
   * flight in a batch that {@link prepare} resolves.
   */
  send(rows: QuotaRow[]): Promise<SendResult> {
    if (!this.isReady) throw new Error('A batch was sent before the one before it was known to be stored.');
    rows.sort(inLockOrder);
    return this.attempt({ number: this.lastBatch + 1, rows, ambiguous: false });
  }

  /** Shows that this instance is alive where it has nothing to send. */
  async touch(): Promise<void> {
    if (await this.store.touch(this.instance)) return;
    this.renew();
    await this.register();
  }

  /** Signs off, once nothing is in question and nothing more will be sent. */
  async leave(): Promise<void> {
    if (!this.isReady) return;
    this.registered = false;
    await this.store.leave(this.instance);
  }

  private async attempt(batch: Batch): Promise<SendResult> {
    const deltas = batch.rows.map(({ tenant, utcDay, inFlight }) => ({ tenant, utcDay, calls: inFlight }));
    this.sending = batch;
    try {
      const answer = await this.store.store(this.instance, batch.number, deltas);
      this.unknown = undefined;
      // A number that we have never sent and that is stored all the same is not ours: two processes share the id, as
      // copies of one machine do.
      if (answer === 'stored' || (answer === 'already' && batch.ambiguous)) return this.accept(batch);
    } catch (error) {
      this.failed(batch, error);
      throw error;
    } finally {
      this.sending = undefined;
    }
    return this.giveUp(batch);
  }

  private accept(batch: Batch): SendResult {
    this.outbox.settleStored(batch.rows);
    this.lastBatch = batch.number;
    return 'stored';
  }

  private failed(batch: Batch, error: unknown): void {
    const stored = error instanceof DatabaseError ? error.outcome : 'unknown';
    if (stored === 'not-stored' && !batch.ambiguous) {
      this.outbox.settleReturned(batch.rows);
      return;
    }
    batch.ambiguous = true;
    this.unknown = batch;
  }

  /** The row is gone, and with it the knowledge of what is stored under this id. */
  private giveUp(batch: Batch): SendResult {
    this.renew();
    if (!batch.ambiguous) {
      this.outbox.settleReturned(batch.rows);
      return 'renewed';
    }
    this.dropped(callsOf(batch));
    // Held against the quota here until a total is adopted, so that the loss mints no call.
    this.outbox.settleStored(batch.rows);
    return 'renewed';
  }

  private renew(): void {
    this.instance = this.newInstanceId();
    this.lastBatch = 0;
    this.registered = false;
  }

  private async register(): Promise<void> {
    await this.store.register(this.instance);
    this.registered = true;
  }
}

function callsOf(batch: Batch): number {
  return batch.rows.reduce((sum, row) => sum + row.inFlight, 0);
}

function inLockOrder(a: QuotaRow, b: QuotaRow): number {
  if (a.tenant !== b.tenant) return a.tenant < b.tenant ? -1 : 1;
  return a.utcDay - b.utcDay;
}
