import { Pool, type Dispatcher } from 'undici';
import type { Deadline } from './deadline.adapter.js';
import type { HttpAnswer, HttpFailure } from './exchange.js';
import { HttpCall } from './http-call.adapter.js';

/** What one {@link HttpTransport} may hold at once. */
export interface TransportLimits {
  /** Connections per origin. */
  readonly connections: number;
  /** Requests per origin that run or wait for a connection; one more fails at once. */
  readonly requests: number;
  /** Of one response body. */
  readonly maxBodyBytes: number;
  /** Of one connection attempt. */
  readonly connectTimeoutMs: number;
}

/** One HTTP request, addressed and signed. */
export interface HttpRequest {
  readonly origin: string;
  readonly method: Dispatcher.HttpMethod;
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
}

interface Origin {
  readonly pool: Pool;
  requests: number;
}

/**
 * Sends single requests over keep-alive connections, a bounded pool per origin. Follows no redirect and sends nothing
 * twice: undici fails the request that a broken connection was busy with, and with one request per connection at a time
 * there is no other.
 */
export class HttpTransport {
  private readonly origins = new Map<string, Origin>();

  /** @param origins the only ones that are ever connected to */
  constructor(
    origins: readonly string[],
    private readonly limits: TransportLimits,
  ) {
    for (const origin of origins) this.origins.set(origin, { pool: this.createPool(origin), requests: 0 });
  }

  /** The answer, whatever its status, or why there is none. Never rejects. */
  async send(request: HttpRequest, deadline: Deadline): Promise<HttpAnswer | HttpFailure> {
    if (deadline.ended !== undefined) return { failed: deadline.ended, written: false };
    const origin = this.origins.get(request.origin);
    if (origin === undefined || origin.requests >= this.limits.requests)
      return { failed: 'connection', written: false, code: 'ALL_CONNECTIONS_TAKEN' };
    origin.requests += 1;
    const call = new HttpCall(deadline, this.limits.maxBodyBytes, () => (origin.requests -= 1));
    const { method, target, headers, body } = request;
    origin.pool.dispatch({ method, path: target, headers, body: body ?? null }, call);
    return call.result;
  }

  /** Breaks every connection; whatever is still running fails, and so does all that comes later. */
  async close(): Promise<void> {
    await Promise.all([...this.origins.values()].map(({ pool }) => pool.destroy()));
  }

  private createPool(origin: string): Pool {
    const { connections, connectTimeoutMs } = this.limits;
    // The deadline watches over the whole exchange, so undici's own time-outs for headers and body are off.
    return new Pool(origin, {
      connections,
      pipelining: 1,
      allowH2: false,
      connectTimeout: connectTimeoutMs,
      headersTimeout: 0,
      bodyTimeout: 0,
    });
  }
}
