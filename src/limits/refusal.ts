import { type ErrorBody, errorBody } from '../errors/error-body.js';
import type { ErrorCode } from '../errors/error-code.js';
import type { Limit, Refusal, RequestContext } from '../request/request-context.js';

/** A refusal ready to send. All refusals are 429 and not to be cached. */
export interface RenderedRefusal extends ErrorBody {
  readonly status: 429;
  readonly retryAfter: string;
}

const CODES: Record<Limit, ErrorCode> = {
  preauth: 'PREAUTH_RATE_LIMITED',
  tenant: 'TENANT_RATE_LIMITED',
  quota: 'TENANT_QUOTA_EXHAUSTED',
  global: 'GLOBAL_RATE_LIMITED',
};

/**
 * Renders a refusal for its surface: the one place where one becomes text. The sentence is for an agent to act on and
 * holds the wait, since many clients show nothing else. Spec: "What you get when you hit one"; contract: "Refusals".
 */
export function renderRefusal(refusal: Refusal, context: Pick<RequestContext, 'surface' | 'modern'>): RenderedRefusal {
  const { limit, retryAfterSeconds } = refusal;
  const extras = { limit, retryAfterSeconds };
  const body = errorBody(context.surface, context.modern, CODES[limit], sentence(refusal), extras);
  return { status: 429, retryAfter: String(retryAfterSeconds), ...body };
}

function sentence({ limit, retryAfterSeconds: seconds }: Refusal): string {
  switch (limit) {
    case 'preauth':
      return (
        'Rate limited: requests from this address without an API key that has been accepted are limited strictly. ' +
        `Retry in ${seconds}s, with a valid key or token; once it has been accepted it has a far larger budget of its own.`
      );
    case 'tenant':
      return (
        `Rate limited: this API key exceeded its per-second request limit. Retry in ${seconds}s. ` +
        'This is a short pause, not an exhausted quota: the same call works after the wait.'
      );
    case 'quota':
      return (
        'Quota exhausted: this API key has used all its calls of this UTC day. Stop retrying with this key: no wait ' +
        `before the next UTC midnight (in ${seconds}s) will help. Report the exhausted quota to the user instead.`
      );
    case 'global':
      return (
        'Rate limited: the server as a whole is busy; this is not about your API key. ' +
        `Retry in ${seconds}s; the same call works after the wait.`
      );
  }
}
