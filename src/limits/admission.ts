import type { Bookmarks } from '../request/bookmarks.js';
import type { Identity } from '../request/credential.js';
import type { Surface } from '../errors/error-body.js';
import type { Limit, Refusal, RequestContext } from '../request/request-context.js';
import type { GlobalLayer } from './global-layer.js';
import type { PreauthLayer } from './preauth-layer.js';
import type { TenantLayer } from './tenant-layer.js';
import { retryAfterSeconds } from './token-bucket.js';

/** The day's counts, as far as admission needs them. */
export interface DailyQuota {
  /** Counts a call on today's UTC day, which it answers; -1 when the day's quota is used up. */
  tryCount(tenant: string, surface: Surface, bookmarks?: Bookmarks): number;
  uncount(tenant: string, utcDay: number): void;
  isExhausted(tenant: string): boolean;
  secondsToReset(): number;
}

/** The four layers, in the order in which they are asked. */
export interface Layers {
  readonly preauth: PreauthLayer;
  readonly tenant: TenantLayer;
  readonly quota: DailyQuota;
  readonly global: GlobalLayer;
}

/** What admission asks and tells around it. */
export interface AdmissionPorts {
  monotonicMs(): number;
  isProven(identity: Identity, nowMs: number): boolean;
  /** A request was turned away; told once a request. */
  refused(context: RequestContext, refusal: Refusal): void;
  /** A request met an overflow bucket at pre-auth. */
  overflowed(): void;
}

/** The layers in the order in which they are asked. */
export const ORDER: readonly Limit[] = ['preauth', 'tenant', 'quota', 'global'];

/**
 * The ONE admission: it alone asks and charges the four layers. Guards call it layer by layer, whatever no guard
 * reaches calls it whole, and a look-ahead asks it without charging. A refused request costs nothing at any layer: what
 * an earlier layer took is given back. Spec: "The four layers"; contract: "Admission, in order".
 */
export class Admission {
  constructor(
    private readonly layers: Layers,
    private readonly ports: AdmissionPorts,
  ) {}

  /**
   * Asks all layers and charges none: the refusal that the request would meet now, told and kept, or undefined. Of a
   * request that is not routed yet it asks as far as the route has no say.
   */
  lookAhead(context: RequestContext): Refusal | undefined {
    if (context.stage !== 'new') return context.refusal;
    const nowMs = this.momentOf(context);
    for (const limit of ORDER) {
      if (limit === 'quota' && context.call === undefined && this.provenIdentity(context) !== undefined)
        return undefined;
      const refusal = this.ask(limit, context, nowMs);
      if (refusal !== undefined) return this.refuse(context, refusal);
    }
    return undefined;
  }

  /** Asks and charges one layer; the last one admits the request. A request that was decided stays so. */
  pass(limit: Limit, context: RequestContext): Refusal | undefined {
    if (context.stage !== 'new') return context.refusal;
    const nowMs = this.momentOf(context);
    // The quota is asked by counting.
    const asked = limit === 'quota' ? undefined : this.ask(limit, context, nowMs);
    const refusal = asked ?? this.charge(limit, context, nowMs);
    if (refusal !== undefined) {
      this.giveBack(context, nowMs);
      return this.refuse(context, refusal);
    }
    if (limit === 'global') context.stage = 'admitted';
    return undefined;
  }

  /** Asks and charges all layers in order, for requests that reach no guard. */
  passAll(context: RequestContext): Refusal | undefined {
    for (const limit of ORDER) {
      const refusal = this.pass(limit, context);
      if (refusal !== undefined) return refusal;
    }
    return undefined;
  }

  /** Tells of a refusal and keeps it with the request, once, whoever found it. */
  refuse(context: RequestContext, refusal: Refusal): Refusal {
    if (context.stage !== 'refused') {
      context.stage = 'refused';
      context.refusal = refusal;
      this.ports.refused(context, refusal);
    }
    return refusal;
  }

  /** All layers of a request are asked within one turn of the event loop, so at one moment. */
  private momentOf(context: RequestContext): number {
    return (context.askedAtMs ??= this.ports.monotonicMs());
  }

  protected ask(limit: Limit, context: RequestContext, nowMs: number): Refusal | undefined {
    const identity = this.provenIdentity(context);
    if (limit === 'quota') {
      if (identity === undefined || context.call !== true || !this.layers.quota.isExhausted(identity.tenant))
        return undefined;
      return { limit, retryAfterSeconds: this.layers.quota.secondsToReset() };
    }
    const wait = this.waitAt(limit, context, identity, nowMs);
    if (wait === 0) return undefined;
    if (limit === 'preauth' && this.layers.preauth.overflows(context.client, nowMs)) this.ports.overflowed();
    return { limit, retryAfterSeconds: retryAfterSeconds(wait) };
  }

  private waitAt(
    limit: Exclude<Limit, 'quota'>,
    context: RequestContext,
    identity: Identity | undefined,
    nowMs: number,
  ): number {
    if (limit === 'global') return this.layers.global.wait(identity !== undefined, nowMs);
    if (limit === 'tenant') return identity === undefined ? 0 : this.layers.tenant.wait(identity, nowMs);
    return identity === undefined ? this.layers.preauth.wait(context.client, nowMs) : 0;
  }

  /** Charges a layer that was asked in this same moment; only the quota can still say no. */
  protected charge(limit: Limit, context: RequestContext, nowMs: number): Refusal | undefined {
    const { taken } = context;
    const identity = this.provenIdentity(context);
    if (limit === 'global') taken.global = this.layers.global.take(nowMs);
    else if (identity === undefined) {
      if (limit === 'preauth') this.chargePreauth(context, nowMs);
    } else if (limit === 'tenant') taken.tenant = this.layers.tenant.take(identity, nowMs);
    else if (limit === 'quota' && context.call === true) {
      taken.quota = this.layers.quota.tryCount(identity.tenant, context.surface, identity.bookmarks);
      if (taken.quota < 0) return { limit, retryAfterSeconds: this.layers.quota.secondsToReset() };
    }
    return undefined;
  }

  private chargePreauth(context: RequestContext, nowMs: number): void {
    if (this.layers.preauth.overflows(context.client, nowMs)) this.ports.overflowed();
    context.taken.preauth = this.layers.preauth.take(context.client, nowMs);
  }

  protected giveBack(context: RequestContext, nowMs: number): void {
    const { taken, identity, client } = context;
    if (taken.preauth >= 0) this.layers.preauth.giveBack(client, taken.preauth, nowMs);
    if (taken.tenant >= 0 && identity !== undefined) this.layers.tenant.giveBack(identity, taken.tenant, nowMs);
    if (taken.quota >= 0 && identity !== undefined) this.layers.quota.uncount(identity.tenant, taken.quota);
    taken.preauth = taken.tenant = taken.quota = taken.global = -1;
  }

  /** The identity where its proof holds; looked at once a request, so that all layers see the same. */
  protected provenIdentity(context: RequestContext): Identity | undefined {
    context.proven ??= context.identity !== undefined && this.ports.isProven(context.identity, this.momentOf(context));
    return context.proven ? context.identity : undefined;
  }
}
