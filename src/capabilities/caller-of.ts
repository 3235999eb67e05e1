import type { IncomingMessage } from 'node:http';
import type { Surface } from '../errors/error-body.js';
import type { TenantContext } from '../request/credential.js';
import { requestContext } from '../request/request-context.js';
import type { Caller, CallerOrigin } from './operation.js';

/** The caller of one HTTP request. Its signal is made when it is first asked for, which many calls never do. */
class HttpCaller implements Caller {
  constructor(
    readonly tenant: TenantContext,
    readonly surface: Surface,
    private readonly raw: IncomingMessage,
  ) {}

  get origin(): CallerOrigin {
    const { client, proven } = requestContext(this.raw);
    return { client, proven: proven === true };
  }

  get signal(): AbortSignal {
    return requestContext(this.raw).signal;
  }
}

/** Who calls, from an authenticated request's context; a call that reached a controller without is a fault of ours. */
export function callerOf(raw: IncomingMessage): HttpCaller {
  const { tenant, surface } = requestContext(raw);
  if (tenant === undefined) throw new Error('A call reached its controller without authentication.');
  return new HttpCaller(tenant, surface, raw);
}
