import { Inject, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { InjectThrottlerOptions, type ThrottlerModuleOptions } from '@nestjs/throttler';
import { LayerStorageService } from './layer-storage.service.js';
import { LayerGuard } from './layer.guard.js';

/** Layer 3: calls of one proven credential per UTC day. */
@Injectable()
export class QuotaGuard extends LayerGuard {
  protected readonly limit = 'quota';

  constructor(
    @InjectThrottlerOptions() options: ThrottlerModuleOptions,
    @Inject(LayerStorageService) layers: LayerStorageService,
    @Inject(Reflector) reflector: Reflector,
  ) {
    super(options, layers, reflector);
  }
}
