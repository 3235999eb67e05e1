import { SerialQueue } from '../control-db/serial-queue.js';
import type { BatchSender } from './batch-sender.js';
import type { QuotaCounter } from './quota-counter.js';
import type { TotalsReader } from './totals-reader.js';

/** An instance whose row vanishes again and again within one flush is being worked against; the next flush may do. */
const RENEWALS_PER_FLUSH = 3;

/** What there is to do with the database. */
type Work = 'flush' | 'read' | 'readWanted' | 'flushEarly' | 'leave';

/** Of each kind one piece of work may run and one wait. */
const QUEUE_CEILING = 10;

/**
 * Pushes what was counted and adopts what others counted, one piece of work at a time. Every method rejects where the
 * database did not do its part; nothing is lost then, and the next flush goes on where this one stopped.
 */
export class QuotaFlusher {
  private readonly queue = new SerialQueue(QUEUE_CEILING);
  /** What waits for its turn: whoever asks for the same meanwhile gets that, however slow the database is. */
  private readonly waiting = new Map<Work, Promise<unknown>>();
  private hasLeft = false;

  /** @param pause lets the event loop do something else between batches */
  constructor(
    private readonly counter: QuotaCounter,
    private readonly sender: BatchSender,
    private readonly reader: TotalsReader,
    private readonly pause: () => Promise<void>,
  ) {}

  /** Whether a batch may or may not be stored. */
  get isUncertain(): boolean {
    return this.sender.isUncertain;
  }

  /** Instances that share the quota, this one included, as last known. */
  get liveInstances(): number {
    return this.reader.liveInstances;
  }

  /** The name under which this instance's batches are stored. */
  get instanceId(): string {
    return this.sender.instanceId;
  }

  /** Whether calls may be in memory alone. */
  get hasUnsent(): boolean {
    return this.sender.isSending || this.sender.isUncertain || this.counter.outbox.size > 0;
  }

  /** Calls that are not known to be stored, and how many of them may be all the same. */
  get unsent(): { calls: number; uncertain: number } {
    const uncertain = this.sender.uncertainCalls;
    return { calls: this.counter.outbox.unsentCalls() + uncertain, uncertain };
  }

  /** Whether tenants wait to be read by name. */
  get hasWanted(): boolean {
    return this.reader.wantedCount > 0;
  }

  /** Has {@link readWanted} read this tenant's total of today. */
  want(tenant: string): void {
    this.reader.want(tenant);
  }

  /** Pushes everything that was counted before this call came to its turn; without any of it, shows signs of life. */
  flush(): Promise<void> {
    return this.inTurn('flush', async () => {
      // A sign of life would bring the instance back.
      if (this.hasLeft) return;
      await this.sender.prepare();
      this.counter.outbox.seal();
      const batches = await this.sendSealed();
      if (batches === 0) await this.sender.touch();
      this.counter.prune();
    });
  }

  /**
   * Reads and adopts the totals that changed.
   * @returns false where nothing could be adopted, because a batch of unknown outcome may be in them already, or
   *   nothing is any more, because this instance has left
   */
  read(): Promise<boolean> {
    return this.adopting('read', () => this.reader.readChanged());
  }

  /** Reads and adopts the totals of tenants that memory lacked; false as in {@link read}. */
  readWanted(): Promise<boolean> {
    return this.adopting('readWanted', () => this.reader.readWanted());
  }

  /** Pushes the rows near the edge alone, and adopts their totals. Waits for the regular flush where that is stuck. */
  flushEarly(): Promise<void> {
    return this.inTurn('flushEarly', async () => {
      if (!this.sender.isReady) return;
      const rows = this.counter.outbox.takeEarly(this.sender.batchRows);
      if (rows.length === 0) return;
      await this.sendRows(rows);
      const utcDay = this.counter.currentDay();
      const tenants = rows.filter((row) => row.utcDay === utcDay).map((row) => row.tenant);
      await this.reader.readNamed(utcDay, tenants);
    });
  }

  /** Takes this instance out of the live ones, for good: after the last flush. */
  leave(): Promise<void> {
    return this.inTurn('leave', () => {
      this.hasLeft = true;
      return this.sender.leave();
    });
  }

  private async sendSealed(): Promise<number> {
    let batches = 0;
    let renewals = 0;
    for (;;) {
      const rows = this.counter.outbox.take(this.sender.batchRows);
      if (rows.length === 0) return batches;
      if ((await this.sendRows(rows)) === 'renewed') {
        renewals += 1;
        if (renewals === RENEWALS_PER_FLUSH) throw new Error('The row of this instance vanishes again and again.');
        // What was returned was listed behind the seal.
        this.counter.outbox.seal();
      }
      batches += 1;
      await this.pause();
    }
  }

  private async sendRows(rows: Parameters<BatchSender['send']>[0]): ReturnType<BatchSender['send']> {
    const result = await this.sender.send(rows);
    if (result === 'renewed') {
      this.reader.requireFullRead();
      await this.sender.prepare();
    }
    return result;
  }

  private adopting(name: Work, read: () => Promise<void>): Promise<boolean> {
    return this.inTurn(name, async () => {
      if (this.hasLeft || this.sender.isUncertain) return false;
      await read();
      return true;
    });
  }

  private inTurn<T>(name: Work, work: () => Promise<T>): Promise<T> {
    const waiting = this.waiting.get(name);
    // Work of one name always comes to the same kind of answer.
    if (waiting !== undefined) return waiting as Promise<T>;
    const result = this.queue.run(() => {
      this.waiting.delete(name);
      return work();
    });
    this.waiting.set(name, result);
    return result;
  }
}
