import { Inject, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { InjectThrottlerOptions, type ThrottlerModuleOptions } from '@nestjs/throttler';
import { LayerStorageService } from './layer-storage.service.js';
import { LayerGuard } from './layer.guard.js';

/** Layer 1: unproven callers, by client address. */
@Injectable()
export class PreauthGuard extends LayerGuard {
  protected readonly limit = 'preauth';

  constructor(
    @InjectThrottlerOptions() options: ThrottlerModuleOptions,
    @Inject(LayerStorageService) layers: LayerStorageService,
    @Inject(Reflector) reflector: Reflector,
  ) {
    super(options, layers, reflector);
  }
}
