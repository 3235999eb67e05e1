import { ERROR_CODES, type ErrorCode } from './error-code.js';

/** One mistake in an input: where (a dotted path, empty for the whole) and what is allowed. */
export interface InputIssue {
  path: string;
  message: string;
}

/** What an {@link AppError} may carry beside its code and its sentence. */
export interface AppErrorExtras {
  /** Whole seconds after which the same request is worth trying again; sent as `Retry-After` too. */
  retryAfterSeconds?: number;
  /** Which limit was met, for limits that are not ours (`upstream`). */
  limit?: string;
  /** What is wrong with the input, one entry a mistake. */
  errors?: InputIssue[];
  /** Methods for the `Allow` header of a 405. */
  allow?: string[];
  /** A status other than the code's usual one (417). */
  status?: number;
  /** A JSON-RPC code other than the code's usual one (-32700). */
  rpcCode?: number;
  /** Further members that only this code has, such as `outcome` of a used confirmation. */
  details?: Record<string, unknown>;
}

/**
 * An expected failure of one request: a stable code and a sentence for whoever called, which says what to do next.
 * The sentence never holds a secret, an e-mail address or an upstream body.
 */
export class AppError extends Error {
  override readonly name = 'AppError';

  constructor(
    readonly code: ErrorCode,
    message: string,
    readonly extras: AppErrorExtras = {},
  ) {
    super(message);
  }

  /** The HTTP status of this failure. */
  get status(): number {
    return this.extras.status ?? ERROR_CODES[this.code].status;
  }
}
