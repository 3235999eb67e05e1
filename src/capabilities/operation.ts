import type { z } from 'zod';
import type { ConfirmAnswer } from '../confirm/confirm-run.js';
import type { PreflightAnswer } from '../confirm/confirm.service.js';
import type { Consent } from '../confirm/consent.js';
import type { Surface } from '../errors/error-body.js';
import type { TenantContext } from '../request/credential.js';
import type { ClientAddress } from '../request/request-context.js';
import type { UpstreamRequest } from '../tidb-cloud/upstream-request.js';
import type { CapabilitiesReport } from './capabilities-report.js';

/** Who calls, from where, and until when: what a surface knows of one call. */
export interface Caller {
  /** The validated context that authentication handed over. */
  readonly tenant: TenantContext;
  readonly surface: Surface;
  /** Where the request came from; absent on stdio, where there is one user and no address. */
  readonly origin?: CallerOrigin;
  /** Aborted when nobody waits for the answer any more. */
  readonly signal: AbortSignal;
  /**
   * How the person in front of the client is asked before the confirmation of this token goes on; absent where the
   * client cannot ask, and then the token alone decides, as everywhere.
   */
  readonly consent?: (confirmationToken: string) => Consent;
}

/** What the server made of where a request came from. */
export interface CallerOrigin {
  readonly client: ClientAddress;
  /** Whether the credential was proven already when the request came. */
  readonly proven: boolean;
}

/** The two steps of an operation that changes something, on one caller's behalf. Contract: "Preflight and confirm". */
export interface Confirmations {
  /** @param args unread; @throws AppError INVALID_ARGUMENT, and what a preflight says */
  preflight(operation: string, args: unknown): Promise<PreflightAnswer>;
  confirm(confirmationToken: string): Promise<ConfirmAnswer>;
}

/** What an operation may use while it runs; all of it belongs to one call. */
export interface OperationContext {
  readonly caller: Caller;
  /**
   * Asks TiDB Cloud once and reads its answer by a lenient schema: unknown members are dropped, missing ones are fine.
   * @throws AppError for every outcome that is no such answer
   */
  ask<T>(request: UpstreamRequest, answer: z.ZodType<T>): Promise<T>;
  /** What this server is and which limits are in force, for this caller. */
  describeServer(): CapabilitiesReport;
  /** The way to everything that changes something, and the only one. */
  readonly confirmations: Confirmations;
}

/** How an operation appears on REST. */
export interface OperationRoute {
  readonly method: 'GET' | 'POST';
  /** Below `/v1`, parameters as `:name`; each is a member of the input of the same name. */
  readonly path: string;
  /** The OpenAPI operation id, and so the method's name in a generated client. */
  readonly operationId: string;
  readonly tag: string;
}

/** MCP's hints to a client about what a tool does; they say what is true and protect nothing. */
export interface OperationAnnotations {
  readonly readOnlyHint: boolean;
  readonly destructiveHint: boolean;
  readonly idempotentHint: boolean;
  readonly openWorldHint: boolean;
}

/**
 * One thing that this server does, written once and served on `/mcp`, on `/v1` and on stdio. Contract: "Surfaces".
 * The schemas give validation, types, tool schemas and the OpenAPI document.
 */
export interface Operation<I extends z.ZodObject = z.ZodObject, O extends z.ZodObject = z.ZodObject> {
  /** The tool's name without `tidb_`, and the name in telemetry. */
  readonly name: string;
  readonly title: string;
  /** What it does and when to use it, for a model to choose by. */
  readonly description: string;
  /** Strict: a member that it does not name is a mistake of the caller. */
  readonly input: I;
  readonly output: O;
  readonly annotations: OperationAnnotations;
  readonly route: OperationRoute;
  /** Belongs to what changes something: on a read-only server it is not listed, and refused by name. */
  readonly changes?: boolean;
  /** A call and its answer as they may look, for the OpenAPI document; both fit the schemas. */
  readonly example: { readonly input: z.input<I>; readonly output: z.output<O> };
  /**
   * The output as JSON, where a call costs so little that writing it by the schema is much of its price. Says what the
   * schema says, and nothing that it does not name.
   */
  json?(output: z.output<O>): string;
  /** The word for an answer that is no success, for telemetry; as a tool result it has `isError`. */
  failure?(output: z.output<O>): string | undefined;
  /** Answers at once where it has to wait for nothing. @throws AppError for every expected failure */
  run(context: OperationContext, input: z.output<I>): z.output<O> | Promise<z.output<O>>;
}

/** Ties an operation's schemas to its `run`, so that the compiler holds one against the other. */
export function defineOperation<I extends z.ZodObject, O extends z.ZodObject>(
  operation: Operation<I, O>,
): Operation<I, O> {
  return operation;
}

/** The hints of an operation that only reads, and reads from TiDB Cloud. */
export const READS_TIDB_CLOUD: OperationAnnotations = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: true,
};

/** The name of an operation's MCP tool. Contract: "Surfaces". */
export function toolName(operation: Operation): string {
  return `tidb_${operation.name}`;
}
