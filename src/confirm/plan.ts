import { canonicalJson } from './canonical-json.js';
import type { ConfirmationToken } from './confirmation-token.js';
import type { DestructiveName, DestructiveOperation, LookWith } from './destructive-operation.js';

/** Arguments of one operation, as its schema reads them. */
export type Arguments = Readonly<Record<string, unknown>>;

/** What a preflight leaves for its confirm. */
export interface Plan {
  readonly operation: DestructiveName;
  readonly arguments: Arguments;
  /** What the caller was shown. */
  readonly summary: string;
  /** How to look where the outcome is unknown. */
  readonly lookWith: LookWith;
}

/** A plan with the operation that it belongs to. */
export interface OpenPlan extends Plan {
  readonly definition: DestructiveOperation;
}

/** What a row of the ledger says of the plan in it. */
interface PlanRow {
  readonly caller: string;
  readonly operation: string;
  readonly sealedPlan: string;
}

/** What binds the ciphertexts of a row to that row: moved into another one, they don't open. */
function boundTo(token: ConfirmationToken, { caller, operation }: Pick<PlanRow, 'caller' | 'operation'>): string {
  return [token.hash, caller, operation].join('\n');
}

/** Encrypts a plan for its row. */
export function sealPlan(token: ConfirmationToken, caller: string, plan: Plan): string {
  const { operation, ...rest } = plan;
  return token.seal('plan', boundTo(token, { caller, operation }), JSON.stringify(rest));
}

/** The plan of a row, its arguments read by the operation's schema once more; undefined where either does not fit. */
export function openPlan(
  token: ConfirmationToken,
  row: PlanRow,
  find: (name: string) => DestructiveOperation | undefined,
): OpenPlan | undefined {
  const definition = find(row.operation);
  const text = token.open('plan', boundTo(token, row), row.sealedPlan);
  if (definition === undefined || text === undefined) return undefined;
  const { arguments: raw, summary, lookWith } = JSON.parse(text) as Plan;
  const args = definition.arguments.safeParse(raw);
  if (!args.success) return undefined;
  return { operation: definition.name, arguments: args.data, summary, lookWith, definition };
}

/** Binds a confirmation to the operation, its arguments and its target as a look found it. */
export function planDigest(
  token: ConfirmationToken,
  plan: Pick<Plan, 'operation' | 'arguments'>,
  target: unknown,
): string {
  return token.digest(canonicalJson({ operation: plan.operation, arguments: plan.arguments, target }));
}

/** Encrypts what a confirm answered, for whoever confirms once more. */
export function sealResult(token: ConfirmationToken, row: PlanRow, result: Record<string, unknown>): string {
  return token.seal('result', boundTo(token, row), JSON.stringify(result));
}

/** What a confirm answered earlier; undefined where it does not open. */
export function openResult(token: ConfirmationToken, row: PlanRow, sealed: string): unknown {
  const text = token.open('result', boundTo(token, row), sealed);
  return text === undefined ? undefined : (JSON.parse(text) as unknown);
}
