import type { AppErrorExtras } from './app-error.js';
import { ERROR_CODES, type ErrorCode } from './error-code.js';

/** Which shape an answer has and under which surface it is counted; the path's text decides. */
export type Surface = 'mcp' | 'v1' | 'other';

/**
 * The revisions of MCP that forbid their implementations the code range -32000 to -32099 and a null id: to a request
 * whose `MCP-Protocol-Version` names one of them the HTTP status is the code, and there is no `id`.
 */
const REVISIONS_WITHOUT_RESERVED_CODES: ReadonlySet<string> = new Set(['2026-07-28']);

/** Whether errors to a request with this `MCP-Protocol-Version` header follow the newer rule. */
export function isModernRevision(header: string | undefined): boolean {
  return header !== undefined && REVISIONS_WITHOUT_RESERVED_CODES.has(header);
}

/** An answer's body and media type, ready to send. */
export interface ErrorBody {
  contentType: string;
  body: string;
}

/**
 * Writes an error in the shape of its surface: RFC 9457 on `/v1`, a JSON-RPC error everywhere else.
 * @param modern from {@link isModernRevision}
 */
export function errorBody(
  surface: Surface,
  modern: boolean,
  code: ErrorCode,
  message: string,
  extras: AppErrorExtras = {},
): ErrorBody {
  const { title } = ERROR_CODES[code];
  const status = extras.status ?? ERROR_CODES[code].status;
  const rpc = extras.rpcCode ?? ERROR_CODES[code].rpc;
  // Every 400 of `/v1` says where and what, also where the whole request could not be read.
  const errors =
    extras.errors ?? (surface === 'v1' && code === 'INVALID_ARGUMENT' ? [{ path: '', message }] : undefined);
  const members = {
    ...(extras.limit === undefined ? {} : { limit: extras.limit }),
    code,
    ...(extras.retryAfterSeconds === undefined ? {} : { retryAfterSeconds: extras.retryAfterSeconds }),
    ...(errors === undefined ? {} : { errors }),
    ...extras.details,
  };
  if (surface === 'v1') {
    const problem = { type: `urn:tidb-cloud-mcp:error:${code}`, title, status, detail: message, ...members };
    return { contentType: 'application/problem+json', body: JSON.stringify(problem) };
  }
  const reserved = rpc <= -32000 && rpc >= -32099;
  const error = { code: modern && reserved ? status : rpc, message, data: members };
  const envelope = modern ? { jsonrpc: '2.0', error } : { jsonrpc: '2.0', error, id: null };
  return { contentType: 'application/json', body: JSON.stringify(envelope) };
}
