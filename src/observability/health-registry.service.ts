import { Injectable } from '@nestjs/common';

/** What a part of the server says of itself: whether it is impaired, and whatever helps to see why. No secrets. */
export interface HealthState {
  degraded: boolean;
  [detail: string]: unknown;
}

/** What the parts last knew of themselves; reading it asks nobody anything. Contract: "Surfaces", readiness. */
@Injectable()
export class HealthRegistry {
  readonly #readers = new Map<string, () => HealthState>();
  #shuttingDown = false;

  /** Whether this instance is going away: readiness is 503 from then on, while requests are still served. */
  get shuttingDown(): boolean {
    return this.#shuttingDown;
  }

  /** Registers how a part's last known state is read; a second registration under a name replaces the first. */
  register(name: string, read: () => HealthState): void {
    this.#readers.set(name, read);
  }

  /** Tells load balancers, through readiness, to send new requests elsewhere. */
  startShutdown(): void {
    this.#shuttingDown = true;
  }

  /** Every part's state; one that can't be read is impaired. */
  states(): Map<string, HealthState> {
    const states = new Map<string, HealthState>();
    for (const [name, read] of this.#readers) states.set(name, readSafely(read));
    return states;
  }
}

function readSafely(read: () => HealthState): HealthState {
  try {
    return read();
  } catch {
    return { degraded: true };
  }
}
