import type { Clock } from '../clock/clock.js';
import { ApiError, invalidArgument } from './api-error.js';
import { DigestGate, type DigestSettings } from './digest-gate.js';
import { KeyRate, type RateState } from './key-rate.js';
import type { KeyRing } from './keys.js';
import { route, type SandboxHost } from './routes.js';

/** Where the identity service's host says whose an OAuth token is. */
export const USERINFO_PATH = '/oauth/userinfo';

/** One request as it arrived. */
export interface ApiRequest {
  readonly host: SandboxHost;
  readonly method: string;
  /** The request-target, undecoded. */
  readonly target: string;
  readonly authorization: string | undefined;
  readonly body: string;
}

/** One answer, ready to be written. */
export interface ApiResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[]>>;
  readonly body: object;
  /** Whose key it was, once that is known. */
  readonly publicKey: string | null;
}

/** What can be switched while the sandbox runs. */
export interface ApiSettings extends DigestSettings {
  /** Whether a 401 to an old nonce says `stale=true`; many servers do not. */
  readonly staleFlag: boolean;
}

type Authenticated = { readonly publicKey: string } | { readonly stale: boolean };

/** The API behind the sandbox's sockets: authentication, then TiDB Cloud's own limit, then the routes. */
export class SandboxApi {
  private readonly gates: Readonly<Record<SandboxHost, DigestGate>>;
  private readonly rate: KeyRate;

  constructor(
    private readonly settings: ApiSettings,
    private readonly keys: KeyRing,
    private readonly clock: Clock,
    rateLimitPerMinute: number,
  ) {
    const privateKeyOf = (publicKey: string): string | undefined => keys.privateKeyOf(publicKey);
    this.gates = { serverless: new DigestGate(settings, privateKeyOf), iam: new DigestGate(settings, privateKeyOf) };
    this.rate = new KeyRate(rateLimitPerMinute);
  }

  /** Answers one request; throws nothing but what is a mistake in the sandbox itself. */
  handle(request: ApiRequest): ApiResponse {
    if (request.host === 'iam' && request.target === USERINFO_PATH) return this.userinfo(request);
    const found = this.authenticate(request);
    if (!('publicKey' in found)) return this.unauthorized(request.host, found.stale);
    const { publicKey } = found;
    const rate = this.rate.take(publicKey, this.clock.utcMs());
    const headers = rateHeaders(rate);
    if (rate.exceeded) return { status: 429, headers, body: rateError(rate).rpcStatus(), publicKey };
    if (this.keys.standing(publicKey) === 'forbidden') {
      const error = new ApiError(403, 7, 'The API key does not have permission to access the resource');
      return { status: 403, headers, body: bodyOf(error, request.host), publicKey };
    }
    try {
      return { status: 200, headers, body: this.run(request, publicKey), publicKey };
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      return { status: error.status, headers, body: bodyOf(error, request.host), publicKey };
    }
  }

  /** Makes every nonce in use unknown, on both hosts. */
  forgetNonces(): void {
    this.gates.serverless.forgetNonces();
    this.gates.iam.forgetNonces();
  }

  /** OpenID Connect Core, section 5.3. */
  private userinfo({ authorization = '' }: ApiRequest): ApiResponse {
    const token = this.keys.token(bearerOf(authorization) ?? '');
    if (token === undefined) {
      const headers = { 'WWW-Authenticate': 'Bearer error="invalid_token"' };
      return { status: 401, headers, body: { error: 'invalid_token' }, publicKey: null };
    }
    const { subject: sub, publicKey } = token;
    return { status: 200, headers: {}, body: { sub, email: `${sub}@sandbox.example` }, publicKey };
  }

  private authenticate({ host, method, target, authorization = '' }: ApiRequest): Authenticated {
    const bearer = bearerOf(authorization);
    if (bearer !== undefined) return this.keys.token(bearer) ?? { stale: false };
    if (!/^digest /i.test(authorization)) return { stale: false };
    const verdict = this.gates[host].verify(authorization, method, target, this.clock.monotonicMs());
    return verdict.kind === 'accepted' ? verdict : { stale: verdict.kind === 'stale' };
  }

  private unauthorized(host: SandboxHost, stale: boolean): ApiResponse {
    const challenges = this.gates[host].challenge(this.clock.monotonicMs(), stale && this.settings.staleFlag);
    const error = new ApiError(401, 49900001, 'The API key cannot be authenticated');
    return { status: 401, headers: { 'WWW-Authenticate': challenges }, body: error.rpcStatus(), publicKey: null };
  }

  private run({ host, method, target, body }: ApiRequest, publicKey: string): object {
    const [pathname = '', ...query] = target.split('?');
    return route(host, method, pathname, {
      organization: this.keys.organization(publicKey),
      query: new URLSearchParams(query.join('?')),
      body: parseBody(body),
    });
  }
}

function bearerOf(authorization: string): string | undefined {
  return /^bearer /i.test(authorization) ? authorization.slice('bearer '.length).trim() : undefined;
}

function parseBody(body: string): unknown {
  if (body === '') return undefined;
  try {
    return JSON.parse(body);
  } catch {
    throw invalidArgument('the body is not JSON');
  }
}

function bodyOf(error: ApiError, host: SandboxHost): object {
  return host === 'iam' ? error.iamError() : error.rpcStatus();
}

function rateHeaders(rate: RateState): Record<string, string> {
  return {
    'X-Ratelimit-Limit-Minute': String(rate.limit),
    'X-Ratelimit-Remaining-Minute': String(rate.remaining),
    'X-Ratelimit-Reset': String(rate.resetSeconds),
  };
}

function rateError(rate: RateState): ApiError {
  return new ApiError(429, 49900007, `The request exceeded the limit of ${rate.limit} times per apikey per minute.`);
}
