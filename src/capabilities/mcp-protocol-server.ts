import {
  type JSONRPCRequest,
  ProtocolError,
  ProtocolErrorCode,
  type Result,
  Server,
  type ServerContext,
} from '@modelcontextprotocol/server';

type Handler = (request: JSONRPCRequest, context: ServerContext) => Promise<Result>;

/** How many mistakes of one request are told, and how much of each. */
const MOST_MISTAKES = 5;
const LONGEST_MISTAKE = 200;

/**
 * The SDK's server, but for what it says of failures that have no code of the protocol (by itself it answers a request
 * whose parameters it can't read as an internal error, and passes the text of any error on) and for what its end costs.
 */
export class ProtocolServer extends Server {
  /**
   * The SDK makes an error of each exchange's end, for whoever still waits for an answer. Nobody does, and its stack
   * alone would cost several times what the four layers do.
   */
  protected override _onclose(): void {
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0;
    try {
      super._onclose();
    } finally {
      Error.stackTraceLimit = stackTraceLimit;
    }
  }

  protected override _wrapHandler(method: string, handler: Handler): Handler {
    return super._wrapHandler(method, (request, context) => {
      let running: Promise<Result>;
      try {
        running = handler(request, context);
      } catch (error) {
        // The SDK reads the parameters before anything waits; only that fails at once and without a code.
        throw hasCode(error) ? error : new ProtocolError(ProtocolErrorCode.InvalidParams, mistakes(method, error));
      }
      return running.catch((error: unknown) => {
        throw hasCode(error)
          ? error
          : new ProtocolError(ProtocolErrorCode.InternalError, 'This server failed to do that.');
      });
    });
  }
}

function hasCode(error: unknown): boolean {
  return error instanceof Error && Number.isSafeInteger((error as { code?: unknown }).code);
}

/** The SDK's message is a list of mistakes as JSON. */
function mistakes(method: string, error: unknown): string {
  const told = readIssues(error instanceof Error ? error.message : '')
    .slice(0, MOST_MISTAKES)
    .map(({ path, message }) => `${(path ?? []).join('.')}: ${message}`.slice(0, LONGEST_MISTAKE));
  return told.length === 0 ? `Invalid params for ${method}.` : `Invalid params for ${method}: ${told.join('; ')}.`;
}

function readIssues(text: string): { path?: unknown[]; message?: string }[] {
  try {
    const issues: unknown = JSON.parse(text);
    return Array.isArray(issues) ? (issues as { path?: unknown[]; message?: string }[]) : [];
  } catch {
    return [];
  }
}
