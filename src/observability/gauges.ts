/** The gauges that other parts of the server own, with the help text that Prometheus shows. Contract: "Metrics". */
export const GAUGES = {
  tidb_mcp_proven_credentials: 'Credentials that have proven themselves and are kept.',
  tidb_mcp_buckets: 'Buckets in memory by layer, overflow buckets included.',
  tidb_mcp_quota_persistence_degraded: 'Whether the shared quota could last not be stored or read (1) or could (0).',
  tidb_mcp_live_instances: 'Instances on this control database, as last known.',
} as const;

/** The name of a gauge that another part owns. */
export type GaugeName = keyof typeof GAUGES;

/** How an owner's gauge is read: one number, or one for each layer. */
export type GaugeReader = () => number | Record<string, number>;

/** What the owners last said, by gauge; a reader that fails says nothing. */
export class GaugeReaders {
  readonly #readers = new Map<GaugeName, GaugeReader>();

  /** Sets how a gauge is read; a second owner replaces the first. */
  set(name: GaugeName, read: GaugeReader): void {
    this.#readers.set(name, read);
  }

  /** The gauge's value now, or undefined where nobody owns it or its owner failed. */
  read(name: GaugeName): number | Record<string, number> | undefined {
    try {
      return this.#readers.get(name)?.();
    } catch {
      return undefined;
    }
  }
}
