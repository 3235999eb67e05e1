import { Inject, Injectable } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { CLOCK, type Clock } from '../clock/clock.js';
import { CONFIG, type Config } from '../config/config.js';
import type { Surface } from '../errors/error-body.js';
import { MetricsService } from '../observability/metrics.service.js';
import { TelemetryService } from '../observability/telemetry.service.js';
import { utcDayOf } from '../quota/utc-day.js';
import type { Credential, Identity, TenantContext } from '../request/credential.js';
import { TenantLimitsService } from '../tenant-limits/tenant-limits.service.js';
import { type IdentifiedRequest, Identifier, isShared, type SharedIdentity, withTenant } from './identify.js';
import { ProofSync } from './proof-sync.js';
import { type ForgetReason, ProvenCredentials } from './proven-credentials.js';
import { RevalidationTimes } from './revalidation.js';
import { type BucketOwner, NO_BUCKETS, type SubjectBuckets, type TenantBuckets } from './tenant-buckets.js';

const SWEEP_MS = 60_000;

/** Identities under shared tokens that can be proven at once: all places of a day, and each token's overflow. */
export function maxSharedIdentities(config: Config): number {
  return config.v1Tokens.length * (config.v1MaxAddresses + 1);
}

/**
 * Who a request claims to be and whether that is proven: the identity function and the two sets of proven credentials
 * (tenants' own, and identities under shared tokens, which are counted apart).
 */
@Injectable()
export class ProofService {
  private readonly identifier: Identifier;
  private readonly hasSharedTokens: boolean;
  private readonly own: ProvenCredentials;
  private readonly shared: ProvenCredentials;
  private buckets: TenantBuckets & SubjectBuckets = NO_BUCKETS;
  private sync: ProofSync | undefined;

  constructor(
    @Inject(CONFIG) config: Config,
    @Inject(CLOCK) private readonly clock: Clock,
    metrics: MetricsService,
    private readonly telemetry: TelemetryService,
    private readonly tenantLimits: TenantLimitsService,
  ) {
    this.hasSharedTokens = config.v1Tokens.length > 0;
    this.identifier = new Identifier({
      sharedTokens: config.v1Tokens,
      maxAddresses: config.v1MaxAddresses,
      otherSecrets: config.adminToken === undefined ? [] : [config.adminToken],
      serverCredential: serverCredential(config),
    });
    const lives = {
      provenIdleMs: config.provenTtlSeconds * 1000,
      contextIdleMs: config.contextIdleSeconds * 1000,
      revalidation: new RevalidationTimes(config.contextMaxAgeSeconds * 1000, Math.random),
    };
    // A shared token is accepted by its match alone: there is nobody to ask about it.
    const sharedLives = { ...lives, revalidation: new RevalidationTimes(0, Math.random) };
    const buckets: TenantBuckets = {
      waitForPlace: (owner, nowMs) => this.buckets.waitForPlace(owner, nowMs),
      join: (owner, nowMs) => this.buckets.join(owner, nowMs),
      leave: (owner, nowMs) => this.buckets.leave(owner, nowMs),
    };
    const listener = {
      proven: (identity: Identity) => this.onProven(identity),
      confirmed: (identity: Identity) => this.identifier.accept(identity),
      forgotten: (owner: BucketOwner, reason: ForgetReason) => this.onForgotten(owner, reason),
    };
    this.own = new ProvenCredentials(config.provenMax, lives, buckets, listener);
    this.shared = new ProvenCredentials(Math.max(1, maxSharedIdentities(config)), sharedLives, buckets, listener);
    metrics.gauge('tidb_mcp_proven_credentials', () => this.count());
  }

  /** Hands over the tenants' buckets, which follow their credentials in and out. */
  attachBuckets(buckets: TenantBuckets & SubjectBuckets): void {
    this.buckets = buckets;
  }

  /** See {@link SubjectBuckets.knowsSubject}. */
  knowsSubject(identity: Identity): boolean {
    return this.buckets.knowsSubject(identity, this.clock.monotonicMs());
  }

  /** See {@link SubjectBuckets.secondsToToken}. */
  secondsToToken(identity: Identity): number {
    return this.buckets.secondsToToken(identity, this.clock.monotonicMs());
  }

  /** See {@link SubjectBuckets.take}. */
  takeToken(identity: Identity, surface: Surface): number {
    return this.buckets.take(identity, this.clock.monotonicMs(), surface);
  }

  /**
   * Has the proofs of tenants' own credentials told to other instances and taken from them. Shared tokens need none of
   * it: their match alone proves them.
   * @param max see {@link ProofSync}
   */
  share(max: number): ProofSync {
    return (this.sync = new ProofSync(this.own, max, () => this.clock.monotonicMs()));
  }

  /** See {@link Identifier.identify}. */
  identify(request: IdentifiedRequest, onV1: boolean, addressKey: string): Identity | undefined {
    // Only places under shared tokens ask which day it is.
    const utcDay = this.hasSharedTokens ? this.utcDay() : 0;
    const identity = this.identifier.identify(request, onV1, addressKey, utcDay);
    return identity === undefined || !this.own.holdsRestored ? identity : this.asRestored(identity);
  }

  /** The moment by which proofs and contexts live: monotonic milliseconds. */
  nowMs(): number {
    return this.clock.monotonicMs();
  }

  /** Whether the identity's proof holds at this moment of the monotonic clock. */
  isProven(identity: Identity, nowMs: number): boolean {
    if (identity.kind !== 'shared' && !this.identifier.isAccepted(identity) && !this.own.holdsRestored) return false;
    return this.setOf(identity).has(identity.fingerprint, nowMs, identity.bookmarks);
  }

  /** The identity's validated context while it lives. */
  context(identity: Identity, nowMs = this.nowMs()): TenantContext | undefined {
    return this.setOf(identity).context(identity.fingerprint, nowMs, identity.bookmarks);
  }

  /** See {@link ProvenCredentials.waitToProve}: milliseconds. */
  waitToProve(identity: Identity): number {
    return this.setOf(identity).waitToProve(identity.fingerprint, this.clock.monotonicMs());
  }

  /**
   * Takes an accepted credential in. Ask {@link waitToProve} first.
   * @param acceptedMs when the upstream was asked that accepted it, by the monotonic clock; now where nobody was
   */
  prove(context: TenantContext, acceptedMs?: number): void {
    const { identity } = context;
    this.setOf(identity).prove(context, this.clock.monotonicMs(), acceptedMs);
    if (identity.kind !== 'shared') this.sync?.noteUse(identity.fingerprint);
  }

  /** Notes that a request passed the four layers and authentication; answers whether a revalidation is due. */
  use(identity: Identity, nowMs: number): boolean {
    if (identity.kind !== 'shared') this.sync?.noteUse(identity.fingerprint);
    return this.setOf(identity).use(identity.fingerprint, nowMs, identity.bookmarks);
  }

  /** See {@link ProvenCredentials.noteTry}. */
  noteTry(identity: Identity): void {
    this.setOf(identity).noteTry(identity.fingerprint, this.clock.monotonicMs());
  }

  /** Forgets a credential that the upstream rejected. */
  reject(identity: Identity): void {
    if (identity.kind !== 'shared') this.sync?.noteRejected(identity.fingerprint);
    this.setOf(identity).reject(identity.fingerprint, this.clock.monotonicMs());
  }

  /** See {@link Identifier.settle}. */
  settle(identity: SharedIdentity): SharedIdentity {
    return this.identifier.settle(identity, this.utcDay());
  }

  /** Credentials proven now. */
  count(): number {
    const nowMs = this.clock.monotonicMs();
    return this.own.count(nowMs) + this.shared.count(nowMs);
  }

  @Interval('proof-sweep', SWEEP_MS)
  sweep(): void {
    const nowMs = this.clock.monotonicMs();
    this.own.sweep(nowMs);
    this.shared.sweep(nowMs);
  }

  /**
   * A restored proof also says as whose tenant its credential was accepted. Known by fingerprint alone, it costs a
   * hash.
   */
  private asRestored(identity: Identity): Identity {
    if (identity.kind === 'shared' || this.identifier.isAccepted(identity)) return identity;
    const tenant = this.own.proofOf(identity.fingerprint)?.tenant ?? identity.tenant;
    return tenant === identity.tenant ? identity : withTenant(identity, tenant);
  }

  private setOf(identity: Identity): ProvenCredentials {
    return identity.kind === 'shared' ? this.shared : this.own;
  }

  private onProven(identity: Identity): void {
    this.identifier.accept(identity);
    if (isShared(identity)) this.tenantLimits.limits.join(identity.fingerprint, identity.tokenFingerprint);
    this.telemetry.emit({ event: 'credential_proven', tenant: identity.tenant });
  }

  private onForgotten(owner: BucketOwner, reason: ForgetReason): void {
    if (owner.kind !== 'restored') this.identifier.drop(owner);
    this.sync?.noteForgotten(owner.fingerprint);
    this.tenantLimits.limits.leave(owner.fingerprint);
    this.telemetry.emit({ event: 'credential_forgotten', tenant: owner.tenant, reason });
  }

  private utcDay(): number {
    return utcDayOf(this.clock.utcMs());
  }
}

function serverCredential(config: Config): Credential | undefined {
  const { tidbCloudPublicKey: publicKey, tidbCloudPrivateKey: privateKey } = config;
  return publicKey === undefined || privateKey === undefined ? undefined : { kind: 'api-key', publicKey, privateKey };
}
