import type { IncomingMessage } from 'node:http';
import type { Surface } from '../errors/error-body.js';
import type { Identity, TenantContext } from './credential.js';

/** The four layers of limits, in the order in which they are asked. */
export type Limit = 'preauth' | 'tenant' | 'quota' | 'global';

/** A request that one of the four layers turned away: a value until it is rendered. */
export interface Refusal {
  readonly limit: Limit;
  /** Whole seconds, at least 1, after which this layer lets the request through, other traffic aside. */
  readonly retryAfterSeconds: number;
}

/** Where a client address was read from; `fallback`: a declared source was missing or malformed, so the socket's. */
export type AddressSource = 'header' | 'forwarded' | 'socket' | 'fallback';

/** The address the caller could not write. */
export interface ClientAddress {
  /** The full address in canonical text. */
  readonly address: string;
  /** What buckets are keyed by: the IPv4 address, or the IPv6 prefix. */
  readonly key: string;
  /** The wider network whose keys share overflow buckets: the IPv4 /24 or the IPv6 /48. */
  readonly network: string;
  readonly source: AddressSource;
  /** The listed block that names this address a gateway, if one does. */
  readonly gateway: string | undefined;
}

/**
 * What one request took: at a bucket its theoretical arrival time after the charge (-1: nothing taken), at the quota
 * the UTC day the call was counted on (-1: not counted).
 */
export interface Taken {
  preauth: number;
  tenant: number;
  quota: number;
  global: number;
}

/** How far a request has come at the layers. */
export type AdmissionStage = 'new' | 'admitted' | 'refused';

/** What all steps of one request share; filled once, before the first guard, without I/O. */
export interface RequestContext {
  readonly surface: Surface;
  /** Errors follow the newer MCP revision's rule. */
  readonly modern: boolean;
  readonly client: ClientAddress;
  /**
   * The credential's identity, or undefined where there is none that counts. Authentication alone may change it: where
   * an address got no place of its own under a shared token after all, and where an OAuth token's subject was learnt.
   */
  identity: Identity | undefined;
  /**
   * Whether the matched route is a call: only calls spend the day's quota and need a credential. Undefined until the
   * request is routed.
   */
  call: boolean | undefined;
  /** Whether the credential was proven when the layers were first asked. */
  proven: boolean | undefined;
  /** Monotonic milliseconds at which the layers were first asked; undefined before. */
  askedAtMs: number | undefined;
  stage: AdmissionStage;
  refusal: Refusal | undefined;
  /** What each layer took from this request, so that a later layer's refusal can give it back. */
  readonly taken: Taken;
  /** The validated context; set by authentication, so undefined for whatever is answered before it. */
  tenant: TenantContext | undefined;
  /**
   * Headers that the answer to this request has whatever it says: name and value in turn, as Node's `writeHead` takes
   * them. Collected along the way; one list costs a fraction of the framework's two objects.
   */
  readonly answerHeaders: string[];
  /** Aborted when the caller goes away. */
  readonly signal: AbortSignal;
}

const CONTEXT = Symbol('request context');

/** Puts the context on Node's request, where every step finds it, whatever the framework wraps around. */
export function setRequestContext(raw: IncomingMessage, context: RequestContext): void {
  (raw as { [CONTEXT]?: RequestContext })[CONTEXT] = context;
}

/** The request's context, or undefined before it was filled. */
export function findRequestContext(raw: IncomingMessage): RequestContext | undefined {
  return (raw as { [CONTEXT]?: RequestContext })[CONTEXT];
}

/** The request's context; a missing one is a fault of this server. */
export function requestContext(raw: IncomingMessage): RequestContext {
  const context = findRequestContext(raw);
  if (context === undefined) throw new Error('The request context was read before it was filled.');
  return context;
}

/**
 * The identity of a refused request whose credential is an accepted one: it was when the layers were asked, or it was
 * accepted at this very door, after which only the tenant's own two layers can refuse.
 */
export function acceptedIdentity({ proven, identity, refusal }: RequestContext): Identity | undefined {
  const isAccepted = proven === true || refusal?.limit === 'quota' || refusal?.limit === 'tenant';
  return isAccepted ? identity : undefined;
}
