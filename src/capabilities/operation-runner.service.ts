import { Inject, Injectable, Logger } from '@nestjs/common';
import type { z } from 'zod';
import { CLOCK, type Clock } from '../clock/clock.js';
import { AppError } from '../errors/app-error.js';
import { MetricsService } from '../observability/metrics.service.js';
import { TelemetryService } from '../observability/telemetry.service.js';
import { readInput } from './input.js';
import { OperationUpstream } from './operation-upstream.service.js';
import type { Caller, Operation, OperationContext } from './operation.js';
import { SERVER_DESCRIPTION, type ServerDescription } from './server-description.js';

/** Runs operations for every surface: input in, result or {@link AppError} out, counted and told on the way. */
@Injectable()
export class OperationRunner {
  private readonly logger = new Logger('Operations');

  constructor(
    @Inject(OperationUpstream) private readonly upstream: OperationUpstream,
    @Inject(SERVER_DESCRIPTION) private readonly server: ServerDescription,
    @Inject(MetricsService) private readonly metrics: MetricsService,
    @Inject(TelemetryService) private readonly telemetry: TelemetryService,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /**
   * Runs one operation.
   * @param raw the input as it came, unread
   * @throws AppError INVALID_ARGUMENT before anything is asked, INTERNAL for a fault of ours, and what the operation says
   */
  async run<I extends z.ZodObject, O extends z.ZodObject>(
    operation: Operation<I, O>,
    caller: Caller,
    raw: unknown,
  ): Promise<z.output<O>> {
    const startedMs = this.clock.monotonicMs();
    let outcome = 'ok';
    try {
      const input = readInput(operation, raw);
      this.metrics.countAdmitted(caller.surface);
      return await operation.run(this.contextOf(caller), input);
    } catch (error) {
      const told = this.tellable(error, operation.name);
      outcome = told.code;
      throw told;
    } finally {
      const ms = Math.round(this.clock.monotonicMs() - startedMs);
      this.telemetry.emit({ event: 'tool_called', operation: operation.name, outcome, ms });
    }
  }

  private contextOf(caller: Caller): OperationContext {
    return {
      caller,
      ask: (request, answer) => this.upstream.ask(caller, request, answer),
      describeServer: () => this.server.describe(caller.tenant),
    };
  }

  private tellable(error: unknown, operation: string): AppError {
    if (error instanceof AppError) return error;
    this.logger.error(`The operation ${operation} failed.`, error instanceof Error ? error.stack : undefined);
    return new AppError('INTERNAL', 'This server failed to do that. Report it if it happens again.');
  }
}
