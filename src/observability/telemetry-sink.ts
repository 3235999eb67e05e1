/** Injection token of the {@link TelemetrySink}; undefined where telemetry is off. */
export const TELEMETRY_SINK = Symbol('TelemetrySink');

/** Injection token of the second {@link TelemetrySink}, a collector's; null where there is none. */
export const COLLECTOR_SINK = Symbol('CollectorSink');

/** Where telemetry lines end up. It is handed one batch at a time and never waited for by a request. */
export interface TelemetrySink {
  /**
   * Takes lines that each end in a newline, and calls `done` once with how many of them, from the first on, arrived
   * whole; fewer than all means that the rest is lost, and `reason` says in a word or two why.
   */
  write(lines: readonly string[], done: (arrived: number, reason?: string) => void): void;

  /** Lets go of what it holds open; nothing is written any more. */
  close?(): void;
}
