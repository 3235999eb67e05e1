import type { ResponseHeaders } from './rate-limit-wait.js';
import { rateLimitWait } from './rate-limit-wait.js';

/** Windows end at whole seconds as told; two ends closer than this are the same window's. */
const SAME_WINDOW_MS = 5_000;

/** A window of which no answer has told the end lasts so long, counted from its first request. */
const UNTOLD_WINDOW_MS = 60_000;

/** Callers behind one key who are counted apart; further ones are counted together. */
const MOST_SHARES = 10_000;
const OVERFLOW = '';

/** A place in a key's minute, taken before a request is sent and ended after its answer. */
export interface MinutePlace {
  /** Ends it; `counted` says whether TiDB Cloud's answer told what is left, so that this request is in it. */
  end(counted: boolean): void;
}

/**
 * What TiDB Cloud's own limit leaves of one credential's minute, over all hosts, as far as its answers have told
 * (`X-Ratelimit-Remaining-Minute`, `X-Ratelimit-Reset`). Nothing is known before the first answer, and then nothing is
 * held back. Contract: "Refusals" (`upstream`).
 */
export class KeyMinute {
  private left: number | undefined;
  private perMinute: number | undefined;
  private endsAtMs = Number.NEGATIVE_INFINITY;
  private begunAtMs = Number.NEGATIVE_INFINITY;
  private flying = 0;
  private window = 0;
  private readonly taken = new Map<string, number>();

  /**
   * Takes a place, or answers the whole seconds, at least 1, until one may be free.
   * @param share one of many callers behind the key, who may take at most half of what the minute has left
   */
  take(monotonicMs: number, share?: string): MinutePlace | number {
    this.roll(monotonicMs);
    if (this.left !== undefined && !this.hasPlace(this.left - this.flying, share)) {
      return Math.max(1, Math.ceil((this.endsAtMs - monotonicMs) / 1000));
    }
    this.flying += 1;
    this.count(share, 1);
    const { window } = this;
    return { end: (counted) => this.end(share, counted || window !== this.window) };
  }

  /** Takes over what an answer tells. */
  learn(headers: ResponseHeaders, monotonicMs: number, utcMs: number): void {
    const remaining = whole(headers['x-ratelimit-remaining-minute']);
    if (remaining === undefined || headers['x-ratelimit-reset'] === undefined) return;
    this.perMinute = whole(headers['x-ratelimit-limit-minute']) ?? this.perMinute;
    this.adopt(remaining, monotonicMs + rateLimitWait(headers, utcMs) * 1000);
  }

  /** Nothing is left for this long: TiDB Cloud has refused a request. */
  exhausted(retryAfterSeconds: number, monotonicMs: number): void {
    this.adopt(0, monotonicMs + retryAfterSeconds * 1000);
  }

  private hasPlace(free: number, share: string | undefined): boolean {
    if (free < 1) return false;
    if (share === undefined) return true;
    const taken = this.taken.get(this.nameOf(share)) ?? 0;
    // Half of what there would be, had this one taken nothing: so the half does not shrink as it is used.
    return (taken + 1) * 2 <= free + taken;
  }

  /** Within one window what is left only ever gets less; a larger number is an older answer that came late. */
  private adopt(remaining: number, endsAtMs: number): void {
    const newer = endsAtMs - this.endsAtMs >= SAME_WINDOW_MS;
    if (!newer && this.endsAtMs - endsAtMs >= SAME_WINDOW_MS) return;
    this.left = newer || this.left === undefined ? remaining : Math.min(this.left, remaining);
    // The first requests of a window are sent before its end is known, and belong to it all the same.
    if (newer && Number.isFinite(this.endsAtMs)) this.forget();
    this.endsAtMs = Math.max(endsAtMs, this.endsAtMs);
  }

  private roll(monotonicMs: number): void {
    const isTold = Number.isFinite(this.endsAtMs);
    const endsAtMs = isTold ? this.endsAtMs : this.begunAtMs + UNTOLD_WINDOW_MS;
    if (this.left === undefined || monotonicMs < endsAtMs) return;
    this.left = this.perMinute;
    this.endsAtMs = Number.NEGATIVE_INFINITY;
    this.begunAtMs = monotonicMs;
    this.forget();
  }

  private forget(): void {
    this.window += 1;
    this.taken.clear();
  }

  private end(share: string | undefined, keep: boolean): void {
    this.flying -= 1;
    if (!keep) this.count(share, -1);
  }

  private count(share: string | undefined, by: number): void {
    if (share === undefined) return;
    const name = this.nameOf(share);
    const taken = (this.taken.get(name) ?? 0) + by;
    if (taken > 0) this.taken.set(name, taken);
    else this.taken.delete(name);
  }

  private nameOf(share: string): string {
    return this.taken.has(share) || this.taken.size < MOST_SHARES ? share : OVERFLOW;
  }
}

function whole(value: string | readonly string[] | undefined): number | undefined {
  const text = typeof value === 'string' ? value : value?.[0];
  return text !== undefined && /^\d{1,9}$/.test(text.trim()) ? Number(text) : undefined;
}
