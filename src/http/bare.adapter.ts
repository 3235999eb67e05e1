import { FastifyAdapter } from '@nestjs/platform-fastify';
import type { FastifyInstance } from 'fastify';

/** The hooks that Nest's adapter is known to bring, as they were read: six before a request is routed, one after it. */
const KNOWN_HOOKS = 'onRequest onRequest onRequest onRequest onRequest onRequest onResponse';

/**
 * Nest's adapter on this Fastify, without the hooks that it brings for CORS, CSRF, middleware and versions: nobody here
 * uses them, and every request would walk through them all. Decision 0026.
 * @throws Error where it brings others than were read
 */
export function bareAdapter(fastify: FastifyInstance): FastifyAdapter {
  const addHook: unknown = Reflect.get(fastify, 'addHook');
  const left: string[] = [];
  Object.assign(fastify, { addHook: (name: string) => (left.push(name), fastify) });
  const adapter = new BareAdapter(fastify);
  Object.assign(fastify, { addHook });
  if (left.join(' ') === KNOWN_HOOKS) return adapter;
  throw new Error(`Nest's adapter brings other hooks than were left out knowingly: ${left.join(' ')}. Decision 0026.`);
}

/** Whatever needs one of those hooks says so at the start, and is not silently without effect. */
class BareAdapter extends FastifyAdapter {
  /** Would bring the library for middleware, and a hook of its own with it. */
  override init(): Promise<void> {
    return Promise.resolve();
  }

  override use(): never {
    throw needsHook('Middleware');
  }

  override createMiddlewareFactory(): never {
    throw needsHook('Middleware');
  }

  override enableCors(): never {
    throw needsHook('CORS by Nest');
  }

  override registerSecurityHook(): never {
    throw needsHook('CSRF protection or security headers by Nest');
  }

  override setOnRequestHook(): never {
    throw needsHook('A hook before each request');
  }

  override setOnResponseHook(): never {
    throw needsHook('A hook after each answer');
  }
}

function needsHook(what: string): Error {
  return new Error(`${what} needs hooks of Nest's adapter that this server leaves out. Decision 0026.`);
}
