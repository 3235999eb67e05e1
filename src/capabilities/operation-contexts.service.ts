import { Inject, Injectable } from '@nestjs/common';
import type { z } from 'zod';
import type { UpstreamRequest } from '../tidb-cloud/upstream-request.js';
import type { CapabilitiesReport } from './capabilities-report.js';
import { OperationConfirmations } from './operation-confirmations.service.js';
import { OperationUpstream } from './operation-upstream.service.js';
import type { Caller, Confirmations, OperationContext } from './operation.js';
import { SERVER_DESCRIPTION, type ServerDescription } from './server-description.js';

/** Makes what an operation works with, for one call. */
@Injectable()
export class OperationContexts {
  constructor(
    @Inject(OperationUpstream) readonly upstream: OperationUpstream,
    @Inject(OperationConfirmations) readonly confirmations: OperationConfirmations,
    @Inject(SERVER_DESCRIPTION) readonly server: ServerDescription,
  ) {}

  /** The context of one call of `caller`. */
  of(caller: Caller): OperationContext {
    return new CallContext(this, caller);
  }
}

/** What one call works with; each part is made when the operation asks for it, and most ask for one. */
class CallContext implements OperationContext {
  constructor(
    private readonly services: OperationContexts,
    readonly caller: Caller,
  ) {}

  ask<T>(request: UpstreamRequest, answer: z.ZodType<T>): Promise<T> {
    return this.services.upstream.ask(this.caller, request, answer);
  }

  describeServer(): CapabilitiesReport {
    return this.services.server.describe(this.caller);
  }

  get confirmations(): Confirmations {
    return this.services.confirmations.of(this.caller);
  }
}
