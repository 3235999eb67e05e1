import { Inject, Injectable, Logger } from '@nestjs/common';
import type { z } from 'zod';
import { CLOCK, type Clock } from '../clock/clock.js';
import { CONFIG, type Config } from '../config/config.js';
import { readOnly } from '../confirm/confirm-errors.js';
import { ConsentNeeded } from '../confirm/consent.js';
import { AppError } from '../errors/app-error.js';
import { MetricsService } from '../observability/metrics.service.js';
import { TelemetryService } from '../observability/telemetry.service.js';
import { readInput } from './input.js';
import { OperationContexts } from './operation-contexts.service.js';
import type { Caller, Operation } from './operation.js';

/** Runs operations for every surface: input in, result or {@link AppError} out, counted and told on the way. */
@Injectable()
export class OperationRunner {
  private readonly logger = new Logger('Operations');

  constructor(
    @Inject(OperationContexts) private readonly contexts: OperationContexts,
    @Inject(MetricsService) private readonly metrics: MetricsService,
    @Inject(TelemetryService) private readonly telemetry: TelemetryService,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(CONFIG) private readonly config: Pick<Config, 'readOnly'>,
  ) {}

  /**
   * Runs one operation; answers at once where it does.
   * @param raw the input as it came, unread
   * @throws AppError INVALID_ARGUMENT before anything is asked, INTERNAL for a fault of ours, and what the operation
   * says; ConsentNeeded where a person has to be asked first
   */
  run<I extends z.ZodObject, O extends z.ZodObject>(
    operation: Operation<I, O>,
    caller: Caller,
    raw: unknown,
  ): z.output<O> | Promise<z.output<O>> {
    const startedMs = this.clock.monotonicMs();
    let output: z.output<O> | Promise<z.output<O>>;
    try {
      const input = readInput(operation, raw);
      this.metrics.countAdmitted(caller.surface);
      output = operation.run(this.contexts.of(caller), input);
    } catch (error) {
      throw this.failed(operation, startedMs, error);
    }
    if (!(output instanceof Promise)) return this.ended(operation, startedMs, output);
    return output.then(
      (answer) => this.ended(operation, startedMs, answer),
      (error: unknown) => {
        throw this.failed(operation, startedMs, error);
      },
    );
  }

  private ended<O extends z.ZodObject>(
    operation: Operation<z.ZodObject, O>,
    startedMs: number,
    output: z.output<O>,
  ): z.output<O> {
    let outcome: string | undefined;
    try {
      outcome = operation.failure?.(output);
    } catch (error) {
      throw this.failed(operation, startedMs, error);
    }
    this.tell(operation, startedMs, outcome ?? 'ok');
    return output;
  }

  private failed(operation: Operation, startedMs: number, error: unknown): AppError | ConsentNeeded {
    const told = this.tellable(error, operation);
    this.tell(operation, startedMs, told instanceof AppError ? told.code : 'input_required');
    return told;
  }

  private tell({ name }: Pick<Operation, 'name'>, startedMs: number, outcome: string): void {
    const ms = Math.round(this.clock.monotonicMs() - startedMs);
    this.telemetry.emit({ event: 'tool_called', operation: name, outcome, ms });
  }

  private tellable(error: unknown, { name, changes }: Pick<Operation, 'name' | 'changes'>): AppError | ConsentNeeded {
    if (error instanceof ConsentNeeded) return error;
    if (error instanceof AppError) {
      // What is refused whatever the input is refused before the input's mistakes.
      const refusedAnyway = this.config.readOnly && changes === true && error.code === 'INVALID_ARGUMENT';
      return refusedAnyway ? readOnly() : error;
    }
    this.logger.error(`The operation ${name} failed.`, error instanceof Error ? error.stack : undefined);
    return new AppError('INTERNAL', 'This server failed to do that. Report it if it happens again.');
  }
}
