import { randomUUID } from 'node:crypto';
import { AppError } from '../errors/app-error.js';
import type { PatientLedger } from './confirm-ledger.service.js';
import { confirmExpired, confirmTargetChanged, confirmUnknown, confirmUsed, readOnly } from './confirm-errors.js';
import type { Consent } from './consent.js';
import type { ConfirmParty } from './confirm-party.js';
import { ConfirmationToken } from './confirmation-token.js';
import type { DestructiveName, DestructiveOperation, Look } from './destructive-operation.js';
import type { NonceRow } from './nonce-ledger.repository.js';
import { type ConfirmOutcome, performed, unknownResult } from './performed.js';
import { type Arguments, type OpenPlan, openPlan, openResult, planDigest, sealResult } from './plan.js';

/** What a confirm answers. Contract: "Preflight and confirm". */
export interface ConfirmAnswer {
  readonly outcome: ConfirmOutcome;
  readonly operation: DestructiveName;
  readonly result: Record<string, unknown>;
}

/** What becomes known of a confirm on its way, for whoever tells about it. */
export interface Confirmed {
  operation: DestructiveName | undefined;
}

/** What one confirm works with. */
export interface ConfirmParts {
  readonly party: ConfirmParty;
  readonly ledger: PatientLedger;
  readonly readOnly: boolean;
  readonly upstreamTimeoutMs: number;
  readonly look: (operation: DestructiveOperation, args: Arguments) => Promise<Look>;
  readonly find: (name: string) => DestructiveOperation | undefined;
  readonly consent: Consent | undefined;
  readonly confirmed: Confirmed;
}

/** After the upstream time-out and this long, whoever was performing is gone, and nobody will tell the outcome. */
const PERFORMING_MARGIN_MS = 15_000;

/**
 * One confirm, step by step: the ledger's row; then what can fail without effect; then the one conditional update; then
 * the one performing request. Contract: "Preflight and confirm".
 */
export class ConfirmRun {
  constructor(private readonly parts: ConfirmParts) {}

  /** @throws AppError for every refusal */
  async run(text: string): Promise<ConfirmAnswer> {
    const token = ConfirmationToken.read(text);
    const row = await this.usableRow(token);
    if (this.parts.readOnly) throw readOnly();
    if (token === undefined || row === undefined) throw confirmUnknown();
    const plan = openPlan(token, row, this.parts.find);
    if (plan === undefined) throw confirmTargetChanged();
    this.parts.confirmed.operation = plan.operation;
    this.parts.consent?.({ operation: plan.operation, summary: plan.summary });
    const place = this.parts.party.reserve();
    let sent = false;
    try {
      const target = await this.unchangedTarget(token, row, plan);
      const request = plan.definition.request(plan.arguments, target);
      const attempt = { tokenHash: token.hash, attempt: randomUUID() };
      await this.consume(token, row, attempt);
      sent = true;
      return await this.perform(token, row, plan, { attempt, work: this.parts.party.perform(place, request) });
    } finally {
      if (!sent) place.end(false);
    }
  }

  /**
   * The caller's row while it can still be used.
   * @returns undefined for a token that is none of this caller's
   */
  private async usableRow(token: ConfirmationToken | undefined): Promise<NonceRow | undefined> {
    const row = token === undefined ? undefined : await this.find(token);
    if (token === undefined || row === undefined || row.caller !== this.parts.party.binding) return undefined;
    this.parts.confirmed.operation = this.parts.find(row.operation)?.name;
    if (row.consumedAt > 0) throw confirmUsed(this.earlier(token, row, row.consumedAt));
    if (row.expiresAt <= row.nowMs) throw confirmExpired();
    return row;
  }

  /** A server that changes nothing says so rather than that it cannot ask its ledger. */
  private async find(token: ConfirmationToken): Promise<NonceRow | undefined> {
    try {
      return await this.parts.ledger.find(token.hash);
    } catch (error) {
      throw this.parts.readOnly && error instanceof AppError ? readOnly() : error;
    }
  }

  private earlier(token: ConfirmationToken, row: NonceRow, consumedAtMs: number) {
    const { operation, outcome, sealedResult } = row;
    if (outcome !== '') {
      const result = openResult(token, row, sealedResult);
      return { outcome, operation, ...(result === undefined ? {} : { result }) };
    }
    const isOver = row.nowMs > consumedAtMs + this.parts.upstreamTimeoutMs + PERFORMING_MARGIN_MS;
    if (!isOver) return { outcome: 'pending', operation };
    const plan = openPlan(token, row, this.parts.find);
    const result = plan === undefined ? undefined : unknownResult(plan.lookWith);
    return { outcome: 'unknown', operation, ...(result === undefined ? {} : { result }) };
  }

  /** Looks once more; where anything differs from what was shown, the row is read again, and "used" wins. */
  private async unchangedTarget(token: ConfirmationToken, row: NonceRow, plan: OpenPlan): Promise<unknown> {
    let look: Look;
    try {
      look = await this.parts.look(plan.definition, plan.arguments);
    } catch (error) {
      const isGone = error instanceof AppError && (error.code === 'NOT_FOUND' || error.code === 'INVALID_ARGUMENT');
      if (!isGone) throw error;
      return this.lost(token, confirmTargetChanged);
    }
    if (planDigest(token, plan, look.target) === row.digest) return look.target;
    return this.lost(token, confirmTargetChanged);
  }

  private async consume(
    token: ConfirmationToken,
    row: NonceRow,
    attempt: { tokenHash: string; attempt: string },
  ): Promise<void> {
    const { party, ledger } = this.parts;
    // Whoever has left before anything was changed has not confirmed to the end.
    if (party.signal.aborted) throw party.errorOf({ kind: 'unavailable', reason: 'aborted', sent: false });
    if (await ledger.consume(attempt, party.binding, row.digest)) return;
    // Usable all the same: whoever won it has given it back in this very moment.
    await this.lost(token, () => confirmUsed({ outcome: 'pending', operation: row.operation }));
  }

  private async lost(token: ConfirmationToken, otherwise: () => AppError): Promise<never> {
    if ((await this.usableRow(token)) === undefined) throw confirmUnknown();
    throw otherwise();
  }

  private async perform(
    token: ConfirmationToken,
    row: NonceRow,
    plan: OpenPlan,
    { attempt, work }: { attempt: { tokenHash: string; attempt: string }; work: ReturnType<ConfirmParty['perform']> },
  ): Promise<ConfirmAnswer> {
    const { party, ledger } = this.parts;
    const ended = performed(plan, await ledger.whilePerforming(work));
    if (ended.kind === 'void') {
      await ledger.settle(attempt, 'release');
      throw party.errorOf(ended.failure);
    }
    if (ended.kind === 'rejected') {
      const result = { reason: 'rejected', message: 'TiDB Cloud rejected the credential. Nothing was changed.' };
      await ledger.settle(attempt, { outcome: 'refused_upstream', sealedResult: sealResult(token, row, result) });
      throw party.errorOf(ended.failure);
    }
    const { outcome, result } = ended;
    await ledger.settle(attempt, { outcome, sealedResult: sealResult(token, row, result) });
    return { outcome, operation: plan.operation, result };
  }
}
