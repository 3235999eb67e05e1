import type { IncomingMessage } from 'node:http';
import type { Surface } from '../errors/error-body.js';
import { requestContext } from '../request/request-context.js';
import type { Caller } from './operation.js';

/** Who calls, from an authenticated request's context; a call that reached a controller without is a fault of ours. */
export function callerOf(raw: IncomingMessage, surface: Surface): Caller {
  const { tenant, signal } = requestContext(raw);
  if (tenant === undefined) throw new Error('A call reached its controller without authentication.');
  return { tenant, signal, surface };
}
