import type { Outcome } from '../tidb-cloud/outcome.js';
import type { NothingDone } from './confirm-party.js';
import type { LookWith } from './destructive-operation.js';
import type { OpenPlan } from './plan.js';

/** How a confirm ended that was carried out, or may have been. Contract: "Preflight and confirm". */
export type ConfirmOutcome = 'done' | 'unknown' | 'refused_upstream';

/** What the performing request came to. */
export type Performed =
  | { readonly kind: 'ended'; readonly outcome: ConfirmOutcome; readonly result: Record<string, unknown> }
  /** Nothing was changed, and what was wrong may pass: the confirmation can be used again. */
  | { readonly kind: 'void'; readonly failure: NothingDone }
  /** Nothing was changed, and the credential is rejected. */
  | { readonly kind: 'rejected'; readonly failure: NothingDone };

/**
 * Reads the outcome of the one performing request. A limit, and a request that surely never got out, changed nothing;
 * a lost or senseless answer says nothing at all.
 */
export function performed(plan: OpenPlan, outcome: Outcome<unknown>): Performed {
  switch (outcome.kind) {
    case 'ok':
      return { kind: 'ended', outcome: 'done', result: plan.definition.result(outcome.value, plan.arguments) };
    case 'rejected':
      return { kind: 'rejected', failure: outcome };
    case 'rate-limited':
      return { kind: 'void', failure: outcome };
    case 'unavailable':
      if (!outcome.sent) return { kind: 'void', failure: outcome };
      return { kind: 'ended', outcome: 'unknown', result: unknownResult(plan.lookWith) };
    case 'not-found':
      return refused('not_found', 'TiDB Cloud has nothing under this id any more.');
    case 'forbidden':
    case 'invalid':
    case 'conflict':
      return refused(outcome.kind, outcome.message);
  }
}

/** What is told of an operation that may or may not have been carried out. */
export function unknownResult(lookWith: LookWith): Record<string, unknown> {
  return {
    message: `TiDB Cloud did not confirm whether it carried this out: it may have. It is not sent again. Look with ${lookWith.tool} before anything else, and ask for a new preflight only if nothing has changed.`,
    lookWith,
  };
}

function refused(reason: string, message: string): Performed {
  const told = `${message} Nothing was changed by this. A new try needs a new preflight.`;
  return { kind: 'ended', outcome: 'refused_upstream', result: { reason, message: told } };
}
