/** Node's timers overflow beyond 2^31 ms, so a longer time-out is waited out in steps. */
const MAX_STEP_MS = 3_600_000;

/** The end that an exchange may come to before its answer: its time is up, or its caller is gone. Dispose of it. */
export class Deadline {
  /** Which end came, or undefined as long as none has. */
  ended: 'timeout' | 'aborted' | undefined;
  private readonly watchers = new Set<() => void>();
  private timer: NodeJS.Timeout | undefined;
  private readonly onAbort = (): void => this.end('aborted');

  /** @param timeoutMs for the whole exchange, with all its requests and the waiting for a connection */
  constructor(
    timeoutMs: number,
    private readonly signal: AbortSignal,
  ) {
    if (signal.aborted) {
      this.ended = 'aborted';
      return;
    }
    signal.addEventListener('abort', this.onAbort, { once: true });
    this.arm(timeoutMs);
  }

  /** Calls back once when the end comes; returns how to stop watching. */
  watch(watcher: () => void): () => void {
    this.watchers.add(watcher);
    return () => this.watchers.delete(watcher);
  }

  /** Lets go of the timer and of the caller's signal. */
  dispose(): void {
    clearTimeout(this.timer);
    this.signal.removeEventListener('abort', this.onAbort);
    this.watchers.clear();
  }

  private arm(remainingMs: number): void {
    const stepMs = Math.min(remainingMs, MAX_STEP_MS);
    const left = remainingMs - stepMs;
    this.timer = setTimeout(() => (left > 0 ? this.arm(left) : this.end('timeout')), stepMs);
    this.timer.unref();
  }

  private end(how: 'timeout' | 'aborted'): void {
    this.ended = how;
    const watchers = [...this.watchers];
    this.dispose();
    for (const watcher of watchers) watcher();
  }
}
