import { within } from '../control-db/within.adapter.js';

/** An answer of the ledger is waited for this long altogether in one call, so that the caller has ours within 2 s. */
const PATIENCE_MS = 1_500;

/** How long one call goes on waiting for the ledger: what one wait has used up, the next one lacks. */
export class LedgerPatience {
  private leftMs = PATIENCE_MS;

  /**
   * Waits for the ledger.
   * @throws DatabaseError, `TIMEOUT` with an unknown outcome when the patience is used up
   */
  async wait<T>(work: Promise<T>): Promise<T> {
    const startedMs = performance.now();
    try {
      return await within(Math.max(1, this.leftMs), work);
    } finally {
      this.leftMs -= performance.now() - startedMs;
    }
  }
}
