import { Inject, Injectable } from '@nestjs/common';
import { OperationConfirmations } from './operation-confirmations.service.js';
import { OperationUpstream } from './operation-upstream.service.js';
import type { Caller, OperationContext } from './operation.js';
import { SERVER_DESCRIPTION, type ServerDescription } from './server-description.js';

/** Makes what an operation works with, for one call. */
@Injectable()
export class OperationContexts {
  constructor(
    @Inject(OperationUpstream) private readonly upstream: OperationUpstream,
    @Inject(OperationConfirmations) private readonly confirmations: OperationConfirmations,
    @Inject(SERVER_DESCRIPTION) private readonly server: ServerDescription,
  ) {}

  /** The context of one call of `caller`. */
  of(caller: Caller): OperationContext {
    return {
      caller,
      ask: (request, answer) => this.upstream.ask(caller, request, answer),
      describeServer: () => this.server.describe(caller),
      confirmations: this.confirmations.of(caller),
    };
  }
}
