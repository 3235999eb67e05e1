import type { ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { SkipThrottle } from '@nestjs/throttler';
import { describe, expect, it } from 'vitest';
import type { LayerStorageService } from './layer-storage.service.js';
import { TenantGuard } from './tenant.guard.js';
import { setRequestContext, type RequestContext } from '../request/request-context.js';
import type { IncomingMessage } from 'node:http';

class AskedController {
  handle(): void {}
}
/** Inherits the handler, and with it the very same function. */
class SkippedController extends AskedController {}
SkipThrottle({ tenant: true })(SkippedController);

describe('A layer that a controller skips', () => {
  it('is asked by another one with the same handler all the same, in whatever order they are called', async () => {
    let asked = 0;
    const layers = { pass: () => void (asked += 1) } as unknown as LayerStorageService;
    const guard = new TenantGuard([{ name: 'tenant', limit: 1, ttl: 1 }], layers, new Reflector());
    await guard.onModuleInit();
    const call = (controller: typeof AskedController): number => {
      const raw = {} as IncomingMessage;
      setRequestContext(raw, {} as RequestContext);
      const before = asked;
      void guard.canActivate({
        getHandler: () => Reflect.get(controller.prototype, 'handle') as object,
        getClass: () => controller,
        getArgByIndex: () => ({ raw }),
      } as unknown as ExecutionContext);
      return asked - before;
    };
    const order = [AskedController, SkippedController, AskedController, SkippedController];
    expect(order.map(call)).toEqual([1, 0, 1, 0]);
  });
});
