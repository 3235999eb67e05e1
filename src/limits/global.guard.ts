import { Inject, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { InjectThrottlerOptions, type ThrottlerModuleOptions } from '@nestjs/throttler';
import { LayerStorageService } from './layer-storage.service.js';
import { LayerGuard } from './layer.guard.js';

/** Layer 4: the whole instance. */
@Injectable()
export class GlobalGuard extends LayerGuard {
  protected readonly limit = 'global';

  constructor(
    @InjectThrottlerOptions() options: ThrottlerModuleOptions,
    @Inject(LayerStorageService) layers: LayerStorageService,
    @Inject(Reflector) reflector: Reflector,
  ) {
    super(options, layers, reflector);
  }
}
