import { Inject, Injectable } from '@nestjs/common';
import { CLOCK, type Clock } from '../clock/clock.js';
import { CONFIG, type Config } from '../config/config.js';
import { AppError } from '../errors/app-error.js';
import { MetricsService } from '../observability/metrics.service.js';
import { TelemetryService } from '../observability/telemetry.service.js';
import { type ConfirmAnswer, type Confirmed, ConfirmRun } from './confirm-run.js';
import { ConfirmLedgerService } from './confirm-ledger.service.js';
import { readOnly } from './confirm-errors.js';
import { type Consent, ConsentNeeded } from './consent.js';
import type { ConfirmParty } from './confirm-party.js';
import { ConfirmationToken } from './confirmation-token.js';
import type { DestructiveName, DestructiveOperation } from './destructive-operation.js';
import type { Effects } from './effects.js';
import { type Arguments, planDigest, sealPlan } from './plan.js';

/** What a preflight answers. Contract: "Preflight and confirm". */
export interface PreflightAnswer {
  readonly confirmationToken: string;
  /** ISO 8601, by the control database's clock. */
  readonly expiresAt: string;
  readonly operation: DestructiveName;
  readonly summary: string;
  readonly effects: Effects;
}

/**
 * The two steps of every operation that changes something. A preflight looks and shows; a confirm performs exactly what
 * was shown, at most once. Whatever the ledger does not say yes to does not happen. Contract: "Preflight and confirm".
 */
@Injectable()
export class ConfirmService {
  constructor(
    @Inject(CONFIG) private readonly config: Pick<Config, 'readOnly' | 'confirmTtlSeconds' | 'upstreamTimeoutMs'>,
    @Inject(CLOCK) private readonly clock: Clock,
    private readonly ledger: ConfirmLedgerService,
    private readonly metrics: MetricsService,
    private readonly telemetry: TelemetryService,
  ) {}

  /**
   * Looks at the target and keeps what was found; changes nothing.
   * @param args read by the operation's schema
   * @throws AppError READ_ONLY, CONFIRM_LEDGER_UNAVAILABLE, and whatever the look says
   */
  preflight(party: ConfirmParty, operation: DestructiveOperation, args: Arguments): Promise<PreflightAnswer> {
    return this.counted('preflight', party, operation.name, async () => {
      if (this.config.readOnly) throw readOnly();
      const ledger = this.ledger.patiently();
      await ledger.ask();
      const look = await operation.look(this.lookContext(party), args);
      const token = ConfirmationToken.create();
      const { summary, effects, lookWith } = look;
      const plan = { operation: operation.name, arguments: args, summary, lookWith };
      const expiresAtMs = await ledger.add(
        {
          tokenHash: token.hash,
          caller: party.binding,
          operation: operation.name,
          digest: planDigest(token, plan, look.target),
          sealedPlan: sealPlan(token, party.binding, plan),
        },
        this.config.confirmTtlSeconds * 1000,
      );
      const expiresAt = new Date(expiresAtMs).toISOString();
      return { confirmationToken: token.text, expiresAt, operation: operation.name, summary, effects };
    });
  }

  /**
   * Performs what a preflight of this caller has shown.
   * @param find the operations by name
   * @param consent asks the person in front of the client where that is possible; throws to stop
   * @throws AppError CONFIRM_UNKNOWN, CONFIRM_EXPIRED, CONFIRM_USED, CONFIRM_TARGET_CHANGED, CONFIRM_LEDGER_UNAVAILABLE,
   * READ_ONLY, and what TiDB Cloud's limit or an outage has to say before anything was changed
   */
  confirm(
    party: ConfirmParty,
    confirmationToken: string,
    find: (name: string) => DestructiveOperation | undefined,
    consent?: Consent,
  ): Promise<ConfirmAnswer> {
    const confirmed: Confirmed = { operation: undefined };
    return this.counted(
      'confirm',
      party,
      () => confirmed.operation,
      () =>
        new ConfirmRun({
          party,
          ledger: this.ledger.patiently(),
          readOnly: this.config.readOnly,
          upstreamTimeoutMs: this.config.upstreamTimeoutMs,
          look: (operation, args) => operation.look(this.lookContext(party), args),
          find,
          consent,
          confirmed,
        }).run(confirmationToken),
    );
  }

  private lookContext(party: ConfirmParty) {
    return { ask: party.ask.bind(party), utcMs: this.clock.utcMs() };
  }

  private async counted<T extends object>(
    step: 'preflight' | 'confirm',
    party: ConfirmParty,
    operation: string | (() => string | undefined),
    work: () => Promise<T>,
  ): Promise<T> {
    try {
      const answer = await work();
      this.metrics.countConfirm(step, 'outcome' in answer ? String(answer.outcome) : 'ok');
      return answer;
    } catch (error) {
      const code = error instanceof AppError ? error.code : undefined;
      const otherwise = error instanceof ConsentNeeded ? 'input_required' : 'internal';
      this.metrics.countConfirm(step, code?.toLowerCase() ?? otherwise);
      if (code?.startsWith('CONFIRM_') === true || code === 'READ_ONLY') {
        const name = typeof operation === 'string' ? operation : operation();
        this.telemetry.emit({ event: 'confirm_refused', code, operation: name, tenant: party.tenant });
      }
      throw error;
    }
  }
}
