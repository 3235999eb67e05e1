/**
 * The stable codes of every answer that is not a success, each with its HTTP status and its JSON-RPC code.
 * They are `error.data.code` on `/mcp` and `code` on `/v1`. Contract: "Refusals".
 */
export const ERROR_CODES = {
  /** The address budget of callers that have not proven a credential is used up. */
  PREAUTH_RATE_LIMITED: { status: 429, rpc: -32002, title: 'Too many requests' },
  /** This credential's requests per second are used up. */
  TENANT_RATE_LIMITED: { status: 429, rpc: -32002, title: 'Too many requests' },
  /** This credential's calls of the UTC day are used up. */
  TENANT_QUOTA_EXHAUSTED: { status: 429, rpc: -32002, title: 'Daily quota exhausted' },
  /** The whole instance is at its ceiling. */
  GLOBAL_RATE_LIMITED: { status: 429, rpc: -32002, title: 'Too many requests' },
  /** TiDB Cloud's own limit for this key, met on the way. */
  UPSTREAM_RATE_LIMITED: { status: 429, rpc: -32002, title: 'TiDB Cloud rate limit reached' },
  /** No credential, or one that TiDB Cloud rejects. */
  UNAUTHENTICATED: { status: 401, rpc: -32001, title: 'Unauthenticated' },
  /** An origin, a host or an operation that this caller may not use. */
  FORBIDDEN: { status: 403, rpc: -32600, title: 'Forbidden' },
  /** A destructive operation on a server in read-only mode. */
  READ_ONLY: { status: 403, rpc: -32600, title: 'Read-only mode' },
  NOT_FOUND: { status: 404, rpc: -32600, title: 'Not found' },
  METHOD_NOT_ALLOWED: { status: 405, rpc: -32600, title: 'Method not allowed' },
  /** Input that the schema refuses; `errors` says where. */
  INVALID_ARGUMENT: { status: 400, rpc: -32600, title: 'Invalid argument' },
  BODY_TOO_LARGE: { status: 413, rpc: -32600, title: 'Body too large' },
  UNSUPPORTED_MEDIA_TYPE: { status: 415, rpc: -32600, title: 'Unsupported media type' },
  /** The body did not arrive in time. */
  REQUEST_TIMEOUT: { status: 408, rpc: -32600, title: 'Request timeout' },
  /** TiDB Cloud answered something that is no answer to this request. */
  UPSTREAM_ERROR: { status: 502, rpc: -32603, title: 'TiDB Cloud error' },
  /** TiDB Cloud rejected the server's own key; no caller can mend that. */
  SERVER_KEY_REJECTED: { status: 502, rpc: -32603, title: 'Server key rejected' },
  /** TiDB Cloud can't be asked at the moment. */
  UPSTREAM_UNAVAILABLE: { status: 503, rpc: -32003, title: 'TiDB Cloud unavailable' },
  /** This instance is going away; another one takes the call. */
  SHUTTING_DOWN: { status: 503, rpc: -32003, title: 'Shutting down' },
  /** A fault of this server. */
  INTERNAL: { status: 500, rpc: -32603, title: 'Internal error' },
  /** No such confirmation token for this caller. */
  CONFIRM_UNKNOWN: { status: 404, rpc: -32600, title: 'Unknown confirmation' },
  CONFIRM_EXPIRED: { status: 410, rpc: -32600, title: 'Confirmation expired' },
  CONFIRM_USED: { status: 409, rpc: -32600, title: 'Confirmation used' },
  /** What the preflight showed is no longer what is there. */
  CONFIRM_TARGET_CHANGED: { status: 409, rpc: -32600, title: 'Target changed' },
  /** The nonce ledger can't be asked, so nothing destructive may proceed. */
  CONFIRM_LEDGER_UNAVAILABLE: { status: 503, rpc: -32003, title: 'Confirmation ledger unavailable' },
} as const;

/** One of {@link ERROR_CODES}. */
export type ErrorCode = keyof typeof ERROR_CODES;
