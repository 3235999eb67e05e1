import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type Config } from '../config/config.js';
import type { ConfirmParty } from '../confirm/confirm-party.js';
import { ConfirmService } from '../confirm/confirm.service.js';
import { AppError } from '../errors/app-error.js';
import { confirmBinding } from './confirm-binding.js';
import { destructiveOperation } from './destructive-operations.js';
import { invalidInput, readBy } from './input.js';
import { OperationUpstream } from './operation-upstream.service.js';
import type { Caller, Confirmations } from './operation.js';
import { outcomeError } from './outcome-error.js';

/** Far below what the ledger's column takes once it is encrypted. */
const MOST_ARGUMENT_BYTES = 32_768;

/** Preflight and confirm as operations use them: on one caller's behalf. */
@Injectable()
export class OperationConfirmations {
  constructor(
    @Inject(CONFIG) private readonly config: Pick<Config, 'v1Tokens'>,
    @Inject(ConfirmService) private readonly confirm: ConfirmService,
    @Inject(OperationUpstream) private readonly upstream: OperationUpstream,
  ) {}

  /** What `caller` may ask for. */
  of(caller: Caller): Confirmations {
    return {
      preflight: async (name, raw) => {
        const operation = destructiveOperation(name);
        if (operation === undefined) throw new AppError('INVALID_ARGUMENT', 'There is no such operation.');
        const args = readBy(operation.arguments, raw, 'arguments');
        if (Buffer.byteLength(JSON.stringify(args)) > MOST_ARGUMENT_BYTES) {
          throw invalidInput([{ path: 'arguments', message: `must be at most ${MOST_ARGUMENT_BYTES} bytes of JSON` }]);
        }
        return this.confirm.preflight(this.partyOf(caller), operation, args);
      },
      confirm: (token) =>
        this.confirm.confirm(this.partyOf(caller), token, destructiveOperation, caller.consent?.(token)),
    };
  }

  private partyOf(caller: Caller): ConfirmParty {
    const { upstream } = this;
    const { identity } = caller.tenant;
    return {
      binding: confirmBinding(identity, this.config.v1Tokens),
      tenant: identity.tenant,
      signal: caller.signal,
      ask: (request, answer) => upstream.ask(caller, request, answer),
      reserve: () => upstream.reserve(caller),
      perform: (place, request) => upstream.perform(caller, place, request),
      errorOf: (outcome) => outcomeError(outcome, identity.kind),
    };
  }
}
