import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type Config } from '../config/config.js';
import { AppError } from '../errors/app-error.js';
import { REFUSED } from '../errors/refused.js';
import { MetricsService } from '../observability/metrics.service.js';
import { QuotaService } from '../quota/quota.service.js';
import type { Identity, TenantContext, UpstreamSession } from '../request/credential.js';
import type { Refusal, RequestContext } from '../request/request-context.js';
import { CredentialCheck } from './credential-check.service.js';
import { isShared, type SharedIdentity } from './identify.js';
import { ProofService } from './proof.service.js';
import { VALIDATION_POOL, ValidationPool } from './validation-pool.js';

/** What one validation came to: a context, a rejection, or a wait in seconds until it is worth asking again. */
type Verdict = TenantContext | 'rejected' | { retryAfterSeconds: number };

/** A wait for a place among the proven is told at most this long. Contract: "Credentials and identity". */
const MAX_PLACE_WAIT_SECONDS = 60;
/** What an unavailable upstream that names no time is given. */
const UNAVAILABLE_SECONDS = 5;
const LONGEST_TIMER_MS = 3_600_000;

/**
 * Step 5 of the admission: a cached context, or one shared upstream validation, which proves or forgets the credential.
 * Spec: "A credential leaves the set in three ways", "Revocation is noticed when the credential is revalidated".
 */
@Injectable()
export class AuthService {
  private readonly pool: ValidationPool<Verdict>;
  /** One session for everything that works with the server's own key. */
  private serverSession: UpstreamSession | undefined;

  constructor(
    @Inject(CONFIG) config: Config,
    private readonly proof: ProofService,
    private readonly credentials: CredentialCheck,
    private readonly quota: QuotaService,
    private readonly metrics: MetricsService,
  ) {
    this.pool = new ValidationPool(
      (identity, signal) => this.validate(identity, signal),
      { ...VALIDATION_POOL, waitMs: config.upstreamTimeoutMs },
      startTimer,
    );
  }

  /**
   * The context that the call's operation works with. Synchronous while the context is cached.
   * @throws AppError UNAUTHENTICATED, UPSTREAM_UNAVAILABLE; REFUSED where the call's credential proved itself just now
   *   and its tenant's bucket is empty or its day's quota used up
   */
  authenticate(context: RequestContext): TenantContext | Promise<TenantContext> {
    const { identity } = context;
    if (identity === undefined) {
      this.metrics.countAuth('missing');
      throw unauthenticated(
        'This request carries no API key or access token that this server takes. ' +
          'Send Authorization: Bearer PUBLIC_KEY:PRIVATE_KEY, or an OAuth access token.',
      );
    }
    if (isShared(identity)) return this.admit(context, this.acceptShared(context, identity));
    const nowMs = this.proof.nowMs();
    const known = this.proof.context(identity, nowMs);
    return known === undefined ? this.prove(context, identity) : this.admit(context, known, nowMs);
  }

  /** Forgets a credential that the upstream rejected in a later call. The server's own key is nobody's credential. */
  forgetRejected(identity: Identity): void {
    if (identity.kind !== 'shared') this.proof.reject(identity);
  }

  private async prove(context: RequestContext, identity: Identity): Promise<TenantContext> {
    const verdict = await this.pool.run(identity, context.proven === true, context.signal);
    if (verdict === 'rejected') {
      throw unauthenticated(
        'TiDB Cloud rejected this API key or access token. Do not retry with it; check or replace it.',
      );
    }
    if (verdict === undefined) throw unavailable(1);
    if ('retryAfterSeconds' in verdict) throw unavailable(verdict.retryAfterSeconds);
    return this.admit(context, verdict);
  }

  /**
   * The last step before the operation: a credential that proved itself at this very door pays its day's call here, and
   * a further token of a known subject a token of its tenant's bucket.
   */
  private admit(context: RequestContext, tenant: TenantContext, nowMs = this.proof.nowMs()): TenantContext {
    const { identity } = tenant;
    this.settleTenant(context, identity);
    const paysToken = context.proven !== true && tenant.isFurtherToken === true;
    const retryAfterSeconds = paysToken ? this.proof.secondsToToken(identity) : 0;
    if (retryAfterSeconds > 0) refuse(context, { limit: 'tenant', retryAfterSeconds });
    if (context.taken.quota < 0) {
      context.taken.quota = this.quota.tryCount(identity.tenant, context.surface);
      if (context.taken.quota < 0) refuse(context, { limit: 'quota', retryAfterSeconds: this.quota.secondsToReset() });
    }
    if (paysToken) context.taken.tenant = this.proof.takeToken(identity, context.surface);
    if (this.proof.use(identity, nowMs)) this.revalidate(identity);
    context.tenant = tenant;
    return tenant;
  }

  /** No request waits for it: the context serves on. Where the pool has no place, a later use tries again. */
  private revalidate(identity: Identity): void {
    if (this.pool.runInBackground(identity)) this.proof.noteTry(identity);
  }

  private async validate(identity: Identity, signal: AbortSignal): Promise<Verdict> {
    const askedAtMs = this.proof.nowMs();
    // A context that still serves keeps its session: its nonces, and what is known of TiDB Cloud's own limit.
    const serving = this.proof.context(identity);
    const session: UpstreamSession = serving?.session ?? { credential: identity.credential };
    const checked = await this.credentials.check(identity, session, signal);
    this.metrics.countAuth(checked.kind);
    if (checked.kind === 'unavailable') return { retryAfterSeconds: checked.retryAfterSeconds ?? UNAVAILABLE_SECONDS };
    if (checked.kind === 'rejected') {
      this.proof.reject(identity);
      return 'rejected';
    }
    // What was forgotten while it was asked about again proves itself at the door, as everything that was forgotten.
    if (serving !== undefined && !this.proof.isProven(identity, this.proof.nowMs())) return { retryAfterSeconds: 1 };
    const isFurtherToken = this.proof.knowsSubject(checked.identity);
    return this.takeIn({ identity: checked.identity, session, isFurtherToken }, askedAtMs);
  }

  private takeIn(tenant: TenantContext, acceptedMs?: number): TenantContext | { retryAfterSeconds: number } {
    const waitMs = this.proof.waitToProve(tenant.identity);
    if (waitMs > 0) return { retryAfterSeconds: Math.min(MAX_PLACE_WAIT_SECONDS, Math.ceil(waitMs / 1000)) };
    this.proof.prove(tenant, acceptedMs);
    this.quota.noteAccepted(tenant.identity.tenant);
    return tenant;
  }

  /** Whose call it is may come out otherwise than it looked at the layers: then it is counted anew, for whose it is. */
  private settleTenant(context: RequestContext, identity: Identity): void {
    const counted = context.identity?.tenant;
    if (counted !== undefined && counted !== identity.tenant && context.taken.quota >= 0) {
      this.quota.uncount(counted, context.taken.quota);
      context.taken.quota = -1;
    }
    context.identity = identity;
  }

  /** A shared token is accepted by its match alone; the address takes its place under it now. */
  private acceptShared(context: RequestContext, identity: SharedIdentity): TenantContext {
    const settled = this.proof.settle(identity);
    this.settleTenant(context, settled);
    const known = this.proof.context(settled);
    if (known !== undefined) return known;
    this.serverSession ??= { credential: settled.credential };
    const verdict = this.takeIn({ identity: settled, session: this.serverSession });
    if ('retryAfterSeconds' in verdict) throw unavailable(verdict.retryAfterSeconds);
    return verdict;
  }
}

function refuse(context: RequestContext, refusal: Refusal): never {
  context.refusal = refusal;
  throw REFUSED;
}

function unauthenticated(message: string): AppError {
  return new AppError('UNAUTHENTICATED', message);
}

function unavailable(retryAfterSeconds: number): AppError {
  return new AppError(
    'UPSTREAM_UNAVAILABLE',
    `This credential could not be checked with TiDB Cloud at the moment. Retry in ${retryAfterSeconds}s.`,
    { retryAfterSeconds },
  );
}

function startTimer(ms: number, callback: () => void): () => void {
  const timer = setTimeout(callback, Math.min(ms, LONGEST_TIMER_MS));
  timer.unref();
  return () => clearTimeout(timer);
}
