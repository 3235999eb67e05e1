import type { ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { ThrottlerGuard, type ThrottlerModuleOptions } from '@nestjs/throttler';
import type { FastifyRequest } from 'fastify';
import { REFUSED } from '../errors/refused.js';
import { type Limit, requestContext } from '../request/request-context.js';
import type { LayerStorageService } from './layer-storage.service.js';

/** The library keeps `@SkipThrottle` under this prefix and the throttler's name. */
const SKIP = 'THROTTLER:SKIP';

/**
 * The guard of one layer, on the library's seams: of the throttlers it keeps its own entry, respects `@SkipThrottle`,
 * and leaves asking and charging to the one admission. It answers synchronously, so that no other request comes between
 * two layers of this one and a refusal costs no promise.
 */
export abstract class LayerGuard extends ThrottlerGuard {
  protected abstract readonly limit: Limit;
  /** What `@SkipThrottle` says of each handler; metadata never changes, and asking for it costs more than the layer. */
  private readonly skips = new WeakMap<object, { readonly controller: object; readonly skipped: boolean }>();

  constructor(
    options: ThrottlerModuleOptions,
    private readonly layers: LayerStorageService,
    reflector: Reflector,
  ) {
    super(options, layers, reflector);
  }

  override async onModuleInit(): Promise<void> {
    await super.onModuleInit();
    this.throttlers = this.throttlers.filter(({ name }) => name === this.limit);
  }

  /** @throws REFUSED where the layer turns the request away */
  override canActivate(execution: ExecutionContext): Promise<boolean> {
    if (!this.isSkipped(execution)) {
      const { raw } = execution.getArgByIndex<FastifyRequest>(0);
      if (this.layers.pass(this.limit, requestContext(raw)) !== undefined) throw REFUSED;
    }
    // Nest takes a plain boolean as well; the base class's type alone asks for a promise.
    return true as unknown as Promise<boolean>;
  }

  private isSkipped(execution: ExecutionContext): boolean {
    const handler = execution.getHandler();
    const controller = execution.getClass();
    const known = this.skips.get(handler);
    if (known?.controller === controller) return known.skipped;
    const mark = this.reflector.getAllAndOverride<boolean | undefined>(SKIP + this.limit, [handler, controller]);
    const skipped = this.throttlers.length === 0 || mark === true;
    this.skips.set(handler, { controller, skipped });
    return skipped;
  }
}
