import type { z } from 'zod';
import type { UpstreamRequest } from '../tidb-cloud/upstream-request.js';
import type { Effects } from './effects.js';

/** Every operation that changes something, by the name that callers use. Contract: "Preflight and confirm". */
export const DESTRUCTIVE_NAMES = [
  'create_cluster',
  'update_cluster',
  'delete_cluster',
  'create_branch',
  'reset_branch',
  'delete_branch',
  'restore_cluster',
  'delete_backup',
] as const;

/** One of {@link DESTRUCTIVE_NAMES}. */
export type DestructiveName = (typeof DESTRUCTIVE_NAMES)[number];

/** What an operation may use while it looks at its target; it changes nothing. */
export interface LookContext {
  /**
   * Asks TiDB Cloud once and reads its answer by a lenient schema.
   * @throws AppError for every outcome that is no such answer
   */
  ask<T>(request: UpstreamRequest, answer: z.ZodType<T>): Promise<T>;
  /** Now, in milliseconds since the Unix epoch. */
  readonly utcMs: number;
}

/** How to see what became of an operation whose outcome nobody knows. */
export interface LookWith {
  /** An MCP tool and its arguments. */
  readonly tool: string;
  readonly arguments: Readonly<Record<string, string>>;
}

/** What a look found. */
export interface Look<T = unknown> {
  /** What will happen, in words, with what can't be undone. Never an argument that is secret. */
  readonly summary: string;
  /** The same as data. */
  readonly effects: Effects;
  /** Everything that the words rest on, as JSON: a confirm goes on only while a second look finds it equal. */
  readonly target: T;
  readonly lookWith: LookWith;
}

/** What an operation is about, which decides the shape of its result. */
export type TargetKind = 'cluster' | 'branch' | 'backup';

/**
 * One operation that changes something. It is never run as it is: a preflight looks and shows, and a confirm of that
 * very preflight sends the one request. Contract: "Preflight and confirm".
 */
export interface DestructiveOperation<A extends z.ZodObject = z.ZodObject, T = unknown> {
  readonly name: DestructiveName;
  readonly title: string;
  /** What it does, for a model to choose by. */
  readonly description: string;
  readonly kind: TargetKind;
  /** Strict: a member that it does not name is a mistake of the caller. */
  readonly arguments: A;
  /** Arguments as they may look; they fit the schema. */
  readonly example: z.input<A>;
  /** @throws AppError where the target is not there or the arguments don't fit it */
  look(context: LookContext, args: z.output<A>): Promise<Look<T>>;
  /** The one performing request. */
  request(args: z.output<A>, target: T): UpstreamRequest;
  /** What of TiDB Cloud's answer to that request is passed on; lenient, since the operation is done whatever it says. */
  result(answer: unknown, args: z.output<A>): Record<string, unknown>;
}
