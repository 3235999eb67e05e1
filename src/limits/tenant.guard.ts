import { Inject, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { InjectThrottlerOptions, type ThrottlerModuleOptions } from '@nestjs/throttler';
import { LayerStorageService } from './layer-storage.service.js';
import { LayerGuard } from './layer.guard.js';

/** Layer 2: requests per second of one proven credential. */
@Injectable()
export class TenantGuard extends LayerGuard {
  protected readonly limit = 'tenant';

  constructor(
    @InjectThrottlerOptions() options: ThrottlerModuleOptions,
    @Inject(LayerStorageService) layers: LayerStorageService,
    @Inject(Reflector) reflector: Reflector,
  ) {
    super(options, layers, reflector);
  }
}
