import type { CallToolResult, InputRequiredResult, ServerContext } from '@modelcontextprotocol/server';
import { ConsentNeeded } from '../confirm/consent.js';
import { AppError } from '../errors/app-error.js';
import { askForConsent, consentOf } from './mcp-consent.js';
import { toolFailure, toolResult } from './mcp-result.js';
import type { OperationRunner } from './operation-runner.service.js';
import type { Caller, Operation } from './operation.js';

/** What one tool call came to; `error` is what `result` tells, where it tells one. */
export interface ToolRun {
  readonly result: CallToolResult | InputRequiredResult;
  readonly error?: AppError;
}

/**
 * Runs operations as tools, on HTTP and on stdio alike: every failure that a model can act on is a result.
 * @param callerOf who calls, without a way to ask for consent, which the call itself brings
 */
export function runTool(
  runner: Pick<OperationRunner, 'run'>,
  callerOf: (context: ServerContext) => Caller,
): (operation: Operation, args: unknown, context: ServerContext) => Promise<ToolRun> {
  return async (operation, args, context) => {
    try {
      const consent = consentOf(context);
      const caller = consent === undefined ? callerOf(context) : withConsent(callerOf(context), consent);
      return { result: toolResult(operation, await runner.run(operation, caller, args)) };
    } catch (error) {
      if (error instanceof ConsentNeeded) return { result: askForConsent(error.question, args) };
      if (!(error instanceof AppError)) throw error;
      return { result: toolFailure(error), error };
    }
  };
}

function withConsent({ tenant, surface, origin, signal }: Caller, consent: NonNullable<Caller['consent']>): Caller {
  return { tenant, surface, ...(origin === undefined ? {} : { origin }), signal, consent };
}
