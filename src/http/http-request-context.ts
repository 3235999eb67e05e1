import type { IncomingMessage, ServerResponse } from 'node:http';
import { isModernRevision, type Surface } from '../errors/error-body.js';
import type { Identity, TenantContext } from '../request/credential.js';
import type { AdmissionStage, ClientAddress, Refusal, RequestContext, Taken } from '../request/request-context.js';
import { ANSWER_HEADER_LIST } from './pages.js';

/** RFC 9112: a request to a proxy names the whole URL; what stands before its path is none of it. */
const ABSOLUTE_FORM = /^https?:\/\/([^/?#]*)/i;

/** The path's text: what stands before the query. It decides the shape of an answer, never its price. */
export function pathText(url: string): string {
  const path = url.startsWith('/') ? url : url.replace(ABSOLUTE_FORM, '');
  const query = path.indexOf('?');
  return query < 0 ? path : path.slice(0, query);
}

/** The host that a request is for: a whole URL's comes before what `Host` says (RFC 9112, 3.2.2). */
export function hostOf({ url = '/', headers }: Pick<IncomingMessage, 'url' | 'headers'>): string | undefined {
  const authority = url.startsWith('/') ? undefined : ABSOLUTE_FORM.exec(url)?.[1];
  return authority ?? headers.host;
}

/** The surface of a path's text. Contract: "Refusals". */
export function surfaceOf(path: string): Surface {
  if (path.startsWith('/v1/')) return 'v1';
  return path === '/mcp' ? 'mcp' : 'other';
}

/** The shared state of one HTTP request; what is seldom needed is made when it is asked for. */
export class HttpRequestContext implements RequestContext {
  readonly modern: boolean;
  proven: boolean | undefined = undefined;
  call: boolean | undefined = undefined;
  askedAtMs: number | undefined = undefined;
  stage: AdmissionStage = 'new';
  refusal: Refusal | undefined = undefined;
  tenant: TenantContext | undefined = undefined;
  readonly answerHeaders: string[] = [...ANSWER_HEADER_LIST];
  readonly taken: Taken = { preauth: -1, tenant: -1, quota: -1, global: -1 };
  private controller: AbortController | undefined = undefined;

  constructor(
    readonly surface: Surface,
    readonly client: ClientAddress,
    public identity: Identity | undefined,
    { headers }: Pick<IncomingMessage, 'headers'>,
    private readonly response: ServerResponse,
  ) {
    const revision = headers['mcp-protocol-version'];
    this.modern = typeof revision === 'string' && isModernRevision(revision);
  }

  /** Aborted when the caller goes away before the answer is complete. */
  get signal(): AbortSignal {
    if (this.controller === undefined) {
      const controller = (this.controller = new AbortController());
      onGone(this.response, () => controller.abort());
    }
    return this.controller.signal;
  }
}

/** Calls back once if the connection ends before the answer is complete. */
function onGone(response: ServerResponse, callBack: () => void): void {
  const tell = (): void => (response.writableFinished ? undefined : callBack());
  const { socket } = response.req;
  if (response.destroyed || socket.destroyed) return tell();
  response.once('close', tell);
  if (response.socket !== null) return;
  // An answer that waits for its turn on a pipelined connection hears nothing of it. As many may wait as it brings.
  socket.setMaxListeners(0).once('close', tell);
  response.once('close', () => socket.off('close', tell));
}
