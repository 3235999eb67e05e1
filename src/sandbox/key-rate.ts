/** What one request leaves of a key's minute. */
export interface RateState {
  readonly limit: number;
  readonly remaining: number;
  /** Whole seconds, at least 1, to the next minute. */
  readonly resetSeconds: number;
  readonly exceeded: boolean;
}

const MINUTE_MS = 60_000;

/**
 * TiDB Cloud's own limit: so many requests a minute and key, over all its hosts, in fixed windows of the UTC clock. One
 * counter a key, so it is as bounded as the list of keys.
 */
export class KeyRate {
  private readonly windows = new Map<string, { minute: number; count: number }>();

  constructor(private readonly limitPerMinute: number) {}

  /** Counts one request of a key. */
  take(publicKey: string, utcMs: number): RateState {
    const minute = Math.floor(utcMs / MINUTE_MS);
    let window = this.windows.get(publicKey);
    if (window === undefined || window.minute !== minute) {
      window = { minute, count: 0 };
      this.windows.set(publicKey, window);
    }
    const exceeded = window.count >= this.limitPerMinute;
    if (!exceeded) window.count += 1;
    return {
      limit: this.limitPerMinute,
      remaining: this.limitPerMinute - window.count,
      resetSeconds: Math.ceil(((minute + 1) * MINUTE_MS - utcMs) / 1000),
      exceeded,
    };
  }
}
