import type { Clock } from '../clock/clock.js';

interface Pending<S extends string> {
  readonly dueAtMs: number;
  readonly to: S | 'gone';
}

/**
 * Resources by id whose states progress by the clock: a change that takes time is noted when it begins and takes effect
 * on the first look after it is due. No timer runs, so a test that moves the clock sees it at once.
 */
export class Lifecycle<S extends string, R extends { state: S; updateTime: string }> {
  private readonly resources = new Map<string, R>();
  private readonly pending = new Map<string, Pending<S>>();

  constructor(private readonly clock: Clock) {}

  /** Puts a resource in; at `due` it reaches the state `to`. */
  add(id: string, resource: R, due?: { afterMs: number; to: S }): void {
    this.resources.set(id, resource);
    if (due !== undefined) this.pending.set(id, { dueAtMs: this.clock.monotonicMs() + due.afterMs, to: due.to });
  }

  /** Puts a resource into `state` now and into `to` (or away) later. */
  change(id: string, state: S, afterMs: number, to: S | 'gone'): void {
    this.touch(id).state = state;
    this.pending.set(id, { dueAtMs: this.clock.monotonicMs() + afterMs, to });
  }

  /** The resource, stamped as updated now; it must exist. */
  touch(id: string): R {
    const resource = this.get(id);
    if (resource === undefined) throw new Error('A resource was changed that is not there.');
    resource.updateTime = new Date(this.clock.utcMs()).toISOString();
    return resource;
  }

  get(id: string): R | undefined {
    this.settle();
    return this.resources.get(id);
  }

  /** In order of creation. */
  all(): R[] {
    this.settle();
    return [...this.resources.values()];
  }

  delete(id: string): void {
    this.resources.delete(id);
    this.pending.delete(id);
  }

  private settle(): void {
    const nowMs = this.clock.monotonicMs();
    for (const [id, { dueAtMs, to }] of this.pending) {
      if (dueAtMs > nowMs) continue;
      const resource = this.resources.get(id);
      this.pending.delete(id);
      if (resource === undefined || to === 'gone') this.resources.delete(id);
      else resource.state = to;
    }
  }
}
