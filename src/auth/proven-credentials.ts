import type { StoredProof } from '../proof-store/stored-proof.js';
import type { Bookmarks } from '../request/bookmarks.js';
import type { Identity, TenantContext } from '../request/credential.js';
import { type ContextLives, HeldContext } from './held-context.js';
import { proofEntry, type ProofEntry } from './proof-entry.js';
import type { BucketOwner, TenantBuckets } from './tenant-buckets.js';
import { UseOrder } from './use-order.js';

/** Why a credential left the set. Spec: "A credential leaves the set in three ways". */
export type ForgetReason = 'rejected' | 'expired' | 'evicted';

/** Lives of what was proven, in milliseconds of the monotonic clock. */
export interface ProofLives extends ContextLives {
  /** A proof ends this long after its last use. */
  readonly provenIdleMs: number;
}

/** What happened to the set, for whoever counts and tells. */
export interface ProofListener {
  proven(identity: Identity): void;
  /** A restored proof's credential was presented here and accepted: it is known from now on. */
  confirmed(identity: Identity): void;
  forgotten(owner: BucketOwner, reason: ForgetReason): void;
}

/**
 * The credentials that have earned a tenant bucket by being accepted, with the contexts that spare them an upstream
 * round trip. They leave by rejection, by idle time and by the ceiling (least recently used first), and by nothing else.
 * Spec: "A credential earns a tenant bucket by being accepted, never by being presented".
 */
export class ProvenCredentials {
  private readonly entries = new Map<string, ProofEntry>();
  private readonly order = new UseOrder<ProofEntry>();
  private restored = 0;

  constructor(
    private readonly max: number,
    private readonly lives: ProofLives,
    private readonly buckets: TenantBuckets,
    private readonly listener: ProofListener,
  ) {}

  /** Whether proofs were {@link merge merged} whose credentials have not been seen here yet. */
  get holdsRestored(): boolean {
    return this.restored > 0;
  }

  /** Whether the credential's proof holds now. Looking refreshes nothing. */
  has(fingerprint: string, nowMs: number, bookmarks?: Bookmarks): boolean {
    const entry = this.find(fingerprint, bookmarks);
    return entry !== undefined && !this.isExpired(entry, nowMs);
  }

  /** The credential's validated context while it lives; undefined: it has to be validated (again). */
  context(fingerprint: string, nowMs: number, bookmarks?: Bookmarks): TenantContext | undefined {
    const entry = this.find(fingerprint, bookmarks);
    if (entry?.held === undefined || this.isExpired(entry, nowMs)) return undefined;
    return entry.held.serves(nowMs) ? entry.held.tenant : undefined;
  }

  /**
   * Notes a use: a request that passed the four layers and authentication. Refreshes proof and context; answers whether
   * the context is due to be validated again while it serves.
   */
  use(fingerprint: string, nowMs: number, bookmarks?: Bookmarks): boolean {
    const entry = this.find(fingerprint, bookmarks);
    if (entry === undefined) return false;
    this.touch(entry, nowMs);
    return entry.held?.use(nowMs) === true;
  }

  /** A revalidation has begun: should it come to nothing, the next one is due only after a pause. */
  noteTry(fingerprint: string, nowMs: number): void {
    this.entries.get(fingerprint)?.held?.noteTry(nowMs);
  }

  /**
   * Milliseconds until an accepted credential can be taken in; 0 when it can be now. It has to wait only while too many
   * buckets of credentials that left have not refilled.
   */
  waitToProve(fingerprint: string, nowMs: number): number {
    this.dropExpired(nowMs);
    const { oldest } = this.order;
    if (this.entries.has(fingerprint) || this.entries.size < this.max || oldest === undefined) return 0;
    return this.buckets.waitForPlace(oldest.owner, nowMs);
  }

  /**
   * Takes an accepted credential in, or renews its context. Ask {@link waitToProve} first.
   * @param acceptedMs when the upstream was asked that accepted it
   */
  prove(context: TenantContext, nowMs: number, acceptedMs = nowMs): void {
    const { identity } = context;
    const known = this.entries.get(identity.fingerprint);
    if (known !== undefined) return this.renew(known, context, nowMs, acceptedMs);
    const { oldest } = this.order;
    if (this.entries.size >= this.max && oldest !== undefined) this.remove(oldest, 'evicted', nowMs);
    const fresh = proofEntry(identity, acceptedMs, nowMs, new HeldContext(context, this.lives, nowMs));
    this.entries.set(identity.fingerprint, fresh);
    this.order.append(fresh);
    this.buckets.join(identity, nowMs);
    this.listener.proven(identity);
  }

  /** Forgets a credential that the upstream rejected: proof and context go, its bucket and its counts stay. */
  reject(fingerprint: string, nowMs: number): void {
    const entry = this.entries.get(fingerprint);
    if (entry !== undefined) this.remove(entry, 'rejected', nowMs);
  }

  /** What there is to tell of a credential's proof; undefined where there is none. */
  proofOf(fingerprint: string): StoredProof | undefined {
    const entry = this.entries.get(fingerprint);
    if (entry === undefined) return undefined;
    const { owner, acceptedMs, lastUsedMs: usedMs } = entry;
    return { fingerprint, tenant: owner.tenant, acceptedMs, usedMs, rejectedMs: Number.NEGATIVE_INFINITY };
  }

  /**
   * Takes in proofs that others accepted, the most recently used first: new ones without a context, so that the upstream
   * is asked at the first use here; of known ones the later times. Nobody's context lives longer by it.
   */
  merge(proofs: readonly StoredProof[], nowMs: number): void {
    this.dropExpired(nowMs);
    let newer: ProofEntry | undefined;
    for (const proof of proofs) {
      if (nowMs - proof.usedMs >= this.lives.provenIdleMs) return;
      const known = this.entries.get(proof.fingerprint);
      const entry = known === undefined ? this.restore(proof, nowMs) : this.refresh(known, proof, nowMs);
      if (entry === undefined) continue;
      this.order.insert(entry, newer);
      newer = entry;
    }
  }

  /** Lets go of what has expired: whole proofs, and the secrets that idle contexts hold. Meant for now and then. */
  sweep(nowMs: number): void {
    this.dropExpired(nowMs);
    for (let entry = this.order.oldest; entry !== undefined; entry = entry.newer) {
      if (nowMs - entry.lastUsedMs < this.lives.contextIdleMs) break;
      entry.held = undefined;
    }
  }

  /** Proofs that hold now. */
  count(nowMs: number): number {
    this.dropExpired(nowMs);
    return this.entries.size;
  }

  private find(fingerprint: string, bookmarks: Bookmarks | undefined): ProofEntry | undefined {
    const marked = bookmarks?.proof as ProofEntry | undefined;
    if (marked !== undefined && !marked.isGone) return marked;
    const entry = this.entries.get(fingerprint);
    if (bookmarks !== undefined) bookmarks.proof = entry;
    return entry;
  }

  private renew(entry: ProofEntry, context: TenantContext, nowMs: number, acceptedMs: number): void {
    const { owner, held } = entry;
    const { identity } = context;
    const wasExpired = this.isExpired(entry, nowMs);
    if (wasExpired) this.listener.forgotten(owner, 'expired');
    if (owner.kind === 'restored') this.restored -= 1;
    if (owner.tenant !== identity.tenant) this.moveBucket(owner, identity, nowMs);
    if (wasExpired || held === undefined || held.isIdle(nowMs)) this.touch(entry, nowMs);
    entry.owner = identity;
    entry.held = held?.renewed(context, nowMs) ?? new HeldContext(context, this.lives, nowMs);
    entry.acceptedMs = Math.max(entry.acceptedMs, acceptedMs);
    if (wasExpired) this.listener.proven(identity);
    else if (owner.kind === 'restored' || owner.tenant !== identity.tenant) this.listener.confirmed(identity);
  }

  /** Whose a credential is may be answered otherwise than when its proof was stored. */
  private moveBucket(from: BucketOwner, to: BucketOwner, nowMs: number): void {
    this.buckets.leave(from, nowMs);
    this.buckets.join(to, nowMs);
  }

  private touch(entry: ProofEntry, nowMs: number): void {
    entry.lastUsedMs = nowMs;
    if (entry === this.order.newest) return;
    this.order.remove(entry);
    this.order.append(entry);
  }

  /** A new entry, not in the order yet; undefined where there is no place for one that was used so long ago. */
  private restore({ fingerprint, tenant, acceptedMs, usedMs }: StoredProof, nowMs: number): ProofEntry | undefined {
    if (this.entries.size >= this.max) {
      const { oldest } = this.order;
      if (oldest === undefined || usedMs <= oldest.lastUsedMs) return undefined;
      if (this.buckets.waitForPlace(oldest.owner, nowMs) > 0) return undefined;
      this.remove(oldest, 'evicted', nowMs);
    }
    const owner = { kind: 'restored', fingerprint, tenant } as const;
    const entry = proofEntry(owner, acceptedMs, usedMs, undefined);
    this.entries.set(fingerprint, entry);
    this.restored += 1;
    this.buckets.join(owner, nowMs);
    return entry;
  }

  /** The entry, out of the order, with the later of both times; undefined where it may stay where it is. */
  private refresh(
    entry: ProofEntry,
    { acceptedMs, usedMs, tenant }: StoredProof,
    nowMs: number,
  ): ProofEntry | undefined {
    entry.acceptedMs = Math.max(entry.acceptedMs, acceptedMs);
    // The sweep looks no further than the first proof that was used lately, wherever that was.
    if (entry.held?.isIdle(nowMs) === true) entry.held = undefined;
    if (usedMs <= entry.lastUsedMs) return undefined;
    if (this.isExpired(entry, nowMs)) this.restart(entry, tenant, nowMs);
    this.order.remove(entry);
    entry.lastUsedMs = usedMs;
    return entry;
  }

  /** An expired proof that only waits for its bucket's place holds again, by another's word. */
  private restart(entry: ProofEntry, tenant: string, nowMs: number): void {
    const { owner } = entry;
    this.listener.forgotten(owner, 'expired');
    if (owner.kind !== 'restored') this.restored += 1;
    entry.owner = { kind: 'restored', fingerprint: owner.fingerprint, tenant };
    entry.held = undefined;
    if (owner.tenant !== tenant) this.moveBucket(owner, entry.owner, nowMs);
  }

  /** Expired proofs stand at the old end. One whose bucket finds no place yet stays until it does; it proves nothing. */
  private dropExpired(nowMs: number): void {
    while (this.order.oldest !== undefined && this.isExpired(this.order.oldest, nowMs)) {
      if (this.buckets.waitForPlace(this.order.oldest.owner, nowMs) > 0) return;
      this.remove(this.order.oldest, 'expired', nowMs);
    }
  }

  private isExpired(entry: ProofEntry, nowMs: number): boolean {
    return nowMs - entry.lastUsedMs >= this.lives.provenIdleMs;
  }

  private remove(entry: ProofEntry, reason: ForgetReason, nowMs: number): void {
    const { owner } = entry;
    this.entries.delete(owner.fingerprint);
    entry.isGone = true;
    this.order.remove(entry);
    if (owner.kind === 'restored') this.restored -= 1;
    this.buckets.leave(owner, nowMs);
    this.listener.forgotten(owner, reason);
  }
}
