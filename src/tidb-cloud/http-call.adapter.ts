import type { Dispatcher } from 'undici';
import type { Deadline } from './deadline.adapter.js';
import type { HttpAnswer, HttpFailure } from './exchange.js';
import type { ResponseHeaders } from './rate-limit-wait.js';

/**
 * One request on one connection, as undici's dispatcher drives it. Resolves {@link HttpCall.result} once, at the latest
 * when the deadline ends, also while the request still waits for a connection; then it is dropped before it is written.
 */
export class HttpCall implements Dispatcher.DispatchHandler {
  /** Never rejects. */
  readonly result: Promise<HttpAnswer | HttpFailure>;
  private settle!: (result: HttpAnswer | HttpFailure) => void;
  private controller: Dispatcher.DispatchController | undefined;
  private written = false;
  private settled = false;
  private status = 0;
  private headers: ResponseHeaders = {};
  private chunks: Buffer[] | undefined = [];
  private bytes = 0;
  private readonly unwatch: () => void;

  /** @param onGone called once when the dispatcher is through with this request */
  constructor(
    private readonly deadline: Deadline,
    private readonly maxBodyBytes: number,
    private readonly onGone: () => void,
  ) {
    this.result = new Promise((resolve) => (this.settle = resolve));
    this.unwatch = deadline.watch(() => {
      this.finish();
      this.controller?.abort(new Error('The exchange has ended.'));
    });
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    // A second start would be undici sending the request again, which is nobody's to do but the exchange's.
    if (this.settled || this.written) {
      controller.abort(new Error('The exchange has ended.'));
      return;
    }
    this.controller = controller;
    this.written = true;
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number, headers: ResponseHeaders): void {
    if (status < 200) return;
    this.status = status;
    this.headers = headers;
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.bytes += chunk.length;
    if (this.bytes <= this.maxBodyBytes) {
      this.chunks?.push(chunk);
      return;
    }
    this.chunks = undefined;
    this.answer(undefined);
    controller.abort(new Error('The body is too large.'));
  }

  onResponseEnd(): void {
    this.answer(this.chunks === undefined ? undefined : Buffer.concat(this.chunks));
    this.onGone();
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.finish(connectionCode(error));
    this.onGone();
  }

  /** Ends without a complete answer. A status that is no success says all there is to say even if its body broke off. */
  private finish(code?: string): void {
    if (this.deadline.ended !== 'aborted' && this.status >= 300) this.answer(undefined);
    else this.resolve({ failed: this.deadline.ended ?? 'connection', written: this.written, code });
  }

  private answer(body: Buffer | undefined): void {
    this.resolve({ status: this.status, headers: this.headers, body });
  }

  private resolve(result: HttpAnswer | HttpFailure): void {
    if (this.settled) return;
    this.settled = true;
    this.unwatch();
    this.settle(result);
  }
}

const CODE = /^[A-Z0-9_]{1,64}$/;

/** The code of why a connection failed; nothing else of the error is kept. */
function connectionCode(error: Error): string | undefined {
  const { code } = error as { code?: unknown };
  return typeof code === 'string' && CODE.test(code) ? code : undefined;
}
