import type { Identity, TenantContext } from '../request/credential.js';
import type { RevalidationTimes } from './revalidation.js';
import type { TenantBuckets } from './tenant-buckets.js';

/** Why a credential left the set. Spec: "A credential leaves the set in three ways". */
export type ForgetReason = 'rejected' | 'expired' | 'evicted';

/** Lives of what was proven, in milliseconds of the monotonic clock. */
export interface ProofLives {
  /** A proof ends this long after its last use. */
  readonly provenIdleMs: number;
  /** A validated context ends this long after its last use. */
  readonly contextIdleMs: number;
  /** When a context is validated again, however busy it is. */
  readonly revalidation: RevalidationTimes;
}

/** What happened to the set, for whoever counts and tells. */
export interface ProofListener {
  proven(identity: Identity): void;
  forgotten(identity: Identity, reason: ForgetReason): void;
}

interface Entry {
  readonly identity: Identity;
  lastUsedMs: number;
  context: TenantContext | undefined;
  /** From when on a use sets off a revalidation. */
  revalidateAtMs: number;
  /** Revalidations begun since the context was last validated. */
  tries: number;
  /** When the context has reached twice its maximum age. */
  contextEndsAtMs: number;
  older: Entry | undefined;
  newer: Entry | undefined;
}

/**
 * The credentials that have earned a tenant bucket by being accepted, with the contexts that spare them an upstream
 * round trip. They leave by rejection, by idle time and by the ceiling (least recently used first), and by nothing else.
 * Spec: "A credential earns a tenant bucket by being accepted, never by being presented".
 */
export class ProvenCredentials {
  private readonly entries = new Map<string, Entry>();
  private oldest: Entry | undefined;
  private newest: Entry | undefined;

  constructor(
    private readonly max: number,
    private readonly lives: ProofLives,
    private readonly buckets: TenantBuckets,
    private readonly listener: ProofListener,
  ) {}

  /** Whether the credential's proof holds now. Looking refreshes nothing. */
  has(fingerprint: string, nowMs: number): boolean {
    const entry = this.entries.get(fingerprint);
    return entry !== undefined && !this.isExpired(entry, nowMs);
  }

  /** The credential's validated context while it lives; undefined: it has to be validated (again). */
  context(fingerprint: string, nowMs: number): TenantContext | undefined {
    const entry = this.entries.get(fingerprint);
    if (entry === undefined || this.isExpired(entry, nowMs)) return undefined;
    if (this.isIdle(entry, nowMs)) return undefined;
    return nowMs >= entry.contextEndsAtMs ? undefined : entry.context;
  }

  /**
   * Notes a use: a request that passed the four layers and authentication. Refreshes proof and context; answers whether
   * the context is due to be validated again while it serves.
   */
  use(fingerprint: string, nowMs: number): boolean {
    const entry = this.entries.get(fingerprint);
    if (entry === undefined) return false;
    this.refresh(entry, nowMs);
    return nowMs >= entry.revalidateAtMs;
  }

  /** A revalidation has begun: should it come to nothing, the next one is due only after a pause. */
  noteTry(fingerprint: string, nowMs: number): void {
    const entry = this.entries.get(fingerprint);
    if (entry === undefined) return;
    entry.tries += 1;
    entry.revalidateAtMs = this.lives.revalidation.retryAt(nowMs, entry.tries);
  }

  /**
   * Milliseconds until an accepted credential can be taken in; 0 when it can be now. It has to wait only while too many
   * buckets of credentials that left have not refilled.
   */
  waitToProve(fingerprint: string, nowMs: number): number {
    this.dropExpired(nowMs);
    if (this.entries.has(fingerprint) || this.entries.size < this.max || this.oldest === undefined) return 0;
    return this.buckets.waitForPlace(this.oldest.identity, nowMs);
  }

  /** Takes an accepted credential in, or renews its context. Ask {@link waitToProve} first. */
  prove(context: TenantContext, nowMs: number): void {
    const { identity } = context;
    const known = this.entries.get(identity.fingerprint);
    if (known !== undefined) return this.renew(known, context, nowMs);
    if (this.entries.size >= this.max && this.oldest !== undefined) this.remove(this.oldest, 'evicted', nowMs);
    const times = this.timesOf(nowMs);
    const fresh = { identity, lastUsedMs: nowMs, context, ...times, older: undefined, newer: undefined };
    this.entries.set(identity.fingerprint, fresh);
    this.append(fresh);
    this.buckets.join(identity, nowMs);
    this.listener.proven(identity);
  }

  /** Forgets a credential that the upstream rejected: proof and context go, its bucket and its counts stay. */
  reject(fingerprint: string, nowMs: number): void {
    const entry = this.entries.get(fingerprint);
    if (entry !== undefined) this.remove(entry, 'rejected', nowMs);
  }

  /** Lets go of what has expired: whole proofs, and the secrets that idle contexts hold. Meant for now and then. */
  sweep(nowMs: number): void {
    this.dropExpired(nowMs);
    for (let entry = this.oldest; entry !== undefined; entry = entry.newer) {
      if (!this.isIdle(entry, nowMs)) break;
      entry.context = undefined;
    }
  }

  /** Proofs that hold now. */
  count(nowMs: number): number {
    this.dropExpired(nowMs);
    return this.entries.size;
  }

  private renew(entry: Entry, context: TenantContext, nowMs: number): void {
    const wasExpired = this.isExpired(entry, nowMs);
    if (wasExpired) this.listener.forgotten(entry.identity, 'expired');
    // Validating a context that still serves is no use of it.
    if (this.isIdle(entry, nowMs)) this.refresh(entry, nowMs);
    Object.assign(entry, this.timesOf(nowMs), { context });
    if (wasExpired) this.listener.proven(entry.identity);
  }

  private timesOf(nowMs: number): Pick<Entry, 'revalidateAtMs' | 'tries' | 'contextEndsAtMs'> {
    const { revalidation } = this.lives;
    return { revalidateAtMs: revalidation.dueAt(nowMs), tries: 0, contextEndsAtMs: revalidation.endsAt(nowMs) };
  }

  private refresh(entry: Entry, nowMs: number): void {
    entry.lastUsedMs = nowMs;
    if (entry === this.newest) return;
    this.unlink(entry);
    this.append(entry);
  }

  /** Expired proofs stand at the old end. One whose bucket finds no place yet stays until it does; it proves nothing. */
  private dropExpired(nowMs: number): void {
    while (this.oldest !== undefined && this.isExpired(this.oldest, nowMs)) {
      if (this.buckets.waitForPlace(this.oldest.identity, nowMs) > 0) return;
      this.remove(this.oldest, 'expired', nowMs);
    }
  }

  private isIdle(entry: Entry, nowMs: number): boolean {
    return nowMs - entry.lastUsedMs >= this.lives.contextIdleMs;
  }

  private isExpired(entry: Entry, nowMs: number): boolean {
    return nowMs - entry.lastUsedMs >= this.lives.provenIdleMs;
  }

  private remove(entry: Entry, reason: ForgetReason, nowMs: number): void {
    this.entries.delete(entry.identity.fingerprint);
    this.unlink(entry);
    this.buckets.leave(entry.identity, nowMs);
    this.listener.forgotten(entry.identity, reason);
  }

  private unlink(entry: Entry): void {
    if (entry.older === undefined) this.oldest = entry.newer;
    else entry.older.newer = entry.newer;
    if (entry.newer === undefined) this.newest = entry.older;
    else entry.newer.older = entry.older;
    entry.older = entry.newer = undefined;
  }

  private append(entry: Entry): void {
    entry.older = this.newest;
    if (this.newest === undefined) this.oldest = entry;
    else this.newest.newer = entry;
    this.newest = entry;
  }
}
