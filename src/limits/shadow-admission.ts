import type { Limit, Refusal, RequestContext } from '../request/request-context.js';
import { Admission, type AdmissionPorts, type Layers, ORDER } from './admission.js';
import type { PreauthLayer } from './preauth-layer.js';

/** Layers that refuse nothing, and who is told of what they would have refused. */
export interface Shadow {
  /** Those of them that admission watches. */
  readonly limits: ReadonlySet<Limit>;
  /** What pre-auth would enforce, where it is watched; the layer itself then has the larger budget. */
  readonly watchedPreauth: PreauthLayer | undefined;
  wouldRefuse(limit: Limit, context: RequestContext): void;
}

/**
 * The admission where some layers are only watched. A watched bucket takes where it can; where it can't, that is told
 * once, nothing is taken, and the request goes on to the next layer. Pre-auth still refuses past the larger budget, and
 * the quota watches itself, since authentication counts by it too. Decision 0022.
 */
export class ShadowAdmission extends Admission {
  /** What the watched pre-auth buckets took from requests that are not admitted yet. */
  private readonly watched = new WeakMap<RequestContext, number>();

  constructor(
    layers: Layers,
    ports: AdmissionPorts,
    private readonly shadow: Shadow,
  ) {
    super(layers, ports);
  }

  override lookAhead(context: RequestContext): Refusal | undefined {
    const isNew = context.stage === 'new';
    const refusal = super.lookAhead(context);
    if (isNew && refusal !== undefined) this.tellOfEarlier(refusal.limit, context);
    return refusal;
  }

  protected override ask(limit: Limit, context: RequestContext, nowMs: number): Refusal | undefined {
    return this.isWatched(limit) ? undefined : super.ask(limit, context, nowMs);
  }

  protected override charge(limit: Limit, context: RequestContext, nowMs: number): Refusal | undefined {
    if (limit === 'preauth') this.watchPreauth(context, nowMs);
    if (this.isWatched(limit) && super.ask(limit, context, nowMs) !== undefined) {
      this.shadow.wouldRefuse(limit, context);
      return undefined;
    }
    return super.charge(limit, context, nowMs);
  }

  protected override giveBack(context: RequestContext, nowMs: number): void {
    const taken = this.watched.get(context);
    if (taken !== undefined) this.shadow.watchedPreauth?.giveBack(context.client, taken, nowMs);
    this.watched.delete(context);
    super.giveBack(context, nowMs);
  }

  /** What the look-ahead refuses never comes to be charged, where the layers before would have told of it. */
  private tellOfEarlier(refusing: Limit, context: RequestContext): void {
    const nowMs = context.askedAtMs ?? 0;
    for (const limit of ORDER.slice(0, ORDER.indexOf(refusing))) {
      const isOver =
        limit === 'preauth'
          ? this.waitWatched(context, nowMs) > 0
          : this.isWatched(limit) && super.ask(limit, context, nowMs) !== undefined;
      if (isOver) this.shadow.wouldRefuse(limit, context);
    }
  }

  private isWatched(limit: Limit): boolean {
    return (limit === 'tenant' || limit === 'global') && this.shadow.limits.has(limit);
  }

  private watchPreauth(context: RequestContext, nowMs: number): void {
    const watched = this.watchedPreauthOf(context);
    if (watched === undefined) return;
    if (watched.wait(context.client, nowMs) > 0) this.shadow.wouldRefuse('preauth', context);
    else this.watched.set(context, watched.take(context.client, nowMs));
  }

  private waitWatched(context: RequestContext, nowMs: number): number {
    return this.watchedPreauthOf(context)?.wait(context.client, nowMs) ?? 0;
  }

  /** A listed gateway has the larger budget anyway, so nothing is watched there. */
  private watchedPreauthOf(context: RequestContext): PreauthLayer | undefined {
    if (context.client.gateway !== undefined || this.provenIdentity(context) !== undefined) return undefined;
    return this.shadow.watchedPreauth;
  }
}
