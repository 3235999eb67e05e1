import type { ProofHolder } from '../proof-store/proof-exchange.js';
import { isAccepted, type StoredProof } from '../proof-store/stored-proof.js';
import type { ProvenCredentials } from './proven-credentials.js';

/** Rejections of credentials that were not proven here which are remembered; a scanner can make any number of them. */
const STRANGERS = 10_000;

const NEVER = Number.NEGATIVE_INFINITY;

/**
 * What this instance tells the others of its proofs, and takes from them. A rejection takes a proof away wherever it is
 * held, until the upstream accepts the credential again; a use, however late, brings nothing back. Decision 0019.
 */
export class ProofSync implements ProofHolder {
  /** Proven credentials that were accepted or used since they were last told of; no more than are proven. */
  private readonly changed = new Set<string>();
  /** Rejections that others have to hear of, with the tenants that they knew the credentials as. */
  private readonly rejections = new Map<string, StoredProof>();
  /** When credentials were rejected that nobody need hear of unless somebody takes them for proven; oldest first. */
  private readonly strangers = new Map<string, number>();

  /**
   * @param max as many rejections wait at the most; the oldest are dropped
   * @param monotonicMs the moment
   */
  constructor(
    private readonly proven: ProvenCredentials,
    private readonly max: number,
    private readonly monotonicMs: () => number,
  ) {}

  /** Notes that a credential was accepted or used; of one that was forgotten meanwhile there is nothing to tell. */
  noteUse(fingerprint: string): void {
    if (this.changed.has(fingerprint)) return;
    if (this.proven.has(fingerprint, this.monotonicMs())) this.changed.add(fingerprint);
  }

  /** Notes that a credential is proven no longer, whatever the reason. */
  noteForgotten(fingerprint: string): void {
    this.changed.delete(fingerprint);
  }

  /** Notes a rejection by the upstream; ask before the proof is gone. */
  noteRejected(fingerprint: string): void {
    const rejectedMs = this.monotonicMs();
    const proof = this.proven.proofOf(fingerprint);
    if (proof === undefined) bounded(this.strangers, fingerprint, rejectedMs, STRANGERS);
    else this.tell({ ...proof, acceptedMs: NEVER, usedMs: NEVER, rejectedMs });
  }

  get hasRejections(): boolean {
    return this.rejections.size > 0;
  }

  takeChanges(max: number): StoredProof[] {
    const taken = new Map<string, StoredProof>();
    for (const [fingerprint, rejection] of this.rejections) {
      if (taken.size === max) break;
      taken.set(fingerprint, rejection);
      this.rejections.delete(fingerprint);
    }
    for (const fingerprint of this.changed) {
      const rejectedMs = taken.get(fingerprint)?.rejectedMs;
      if (taken.size === max && rejectedMs === undefined) break;
      this.changed.delete(fingerprint);
      const proof = this.proven.proofOf(fingerprint);
      if (proof !== undefined) taken.set(fingerprint, { ...proof, rejectedMs: rejectedMs ?? NEVER });
    }
    return [...taken.values()];
  }

  putBack(changes: readonly StoredProof[]): void {
    for (const change of changes) {
      const { fingerprint, rejectedMs } = change;
      if (this.proven.proofOf(fingerprint) !== undefined) this.changed.add(fingerprint);
      const later = this.rejections.get(fingerprint)?.rejectedMs ?? NEVER;
      if (rejectedMs > later) this.tell({ ...change, acceptedMs: NEVER, usedMs: NEVER });
    }
  }

  merge(proofs: readonly StoredProof[]): number {
    const nowMs = this.monotonicMs();
    const accepted: StoredProof[] = [];
    for (const proof of proofs) {
      if (!isAccepted(proof)) this.forget(proof, nowMs);
      else if (!this.contradicts(proof)) accepted.push(proof);
    }
    this.proven.merge(
      accepted.sort((a, b) => b.usedMs - a.usedMs),
      nowMs,
    );
    return accepted.length;
  }

  /** Others' word that the credential was rejected, unless it was accepted here since and they don't know it yet. */
  private forget({ fingerprint, rejectedMs }: StoredProof, nowMs: number): void {
    if (rejectedMs === NEVER) return;
    const isNews = this.changed.has(fingerprint) && this.acceptedMs(fingerprint) > rejectedMs;
    if (!isNews) this.proven.reject(fingerprint, nowMs);
  }

  /** Whether this instance knows of a later rejection than of the acceptance; the others are told of it then. */
  private contradicts(proof: StoredProof): boolean {
    const { fingerprint } = proof;
    const strangerMs = this.strangers.get(fingerprint) ?? NEVER;
    const rejectedMs = Math.max(this.rejections.get(fingerprint)?.rejectedMs ?? NEVER, strangerMs);
    if (rejectedMs < Math.max(proof.acceptedMs, this.acceptedMs(fingerprint))) {
      this.strangers.delete(fingerprint);
      return false;
    }
    this.tell({ ...proof, acceptedMs: NEVER, usedMs: NEVER, rejectedMs });
    return true;
  }

  private acceptedMs(fingerprint: string): number {
    return this.proven.proofOf(fingerprint)?.acceptedMs ?? NEVER;
  }

  private tell(rejection: StoredProof): void {
    bounded(this.rejections, rejection.fingerprint, rejection, this.max);
  }
}

/** Sets the newest entry of a map that is kept in the order of its entries' ages. */
function bounded<V>(map: Map<string, V>, key: string, value: V, max: number): void {
  map.delete(key);
  map.set(key, value);
  for (const oldest of map.keys()) {
    if (map.size <= max) return;
    map.delete(oldest);
  }
}
