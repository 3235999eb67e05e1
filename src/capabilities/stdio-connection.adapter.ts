import { type Readable, Transform, type Writable } from 'node:stream';
import type { JSONRPCMessage, Transport, TransportSendOptions } from '@modelcontextprotocol/server';
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import { withoutSubscriptions } from './mcp-subscriptions.js';

/** What of a JSON-RPC message matters here. */
interface Seen {
  id?: string | number | null;
  method?: string;
  params?: { requestId?: string | number };
}

/**
 * The SDK's stdio transport, except that the end of the input does not take away the answers that are still under way:
 * whoever pipes requests in and closes the pipe gets them, within a limit of time.
 */
export class StdioConnection implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;

  /** Resolves once the connection is over, whoever ended it. */
  readonly closed: Promise<void>;

  private readonly wire: StdioServerTransport;
  private readonly unanswered = new Set<string | number>();
  private readonly input: Transform;
  private resolveClosed!: () => void;
  private finishInput: (() => void) | undefined;
  private drainTimer: NodeJS.Timeout | undefined;

  constructor(
    private readonly stdin: Readable,
    stdout: Writable,
    private readonly drainMs: number,
  ) {
    this.closed = new Promise((resolve) => (this.resolveClosed = resolve));
    this.input = new Transform({
      transform: (chunk, _encoding, done) => done(null, chunk),
      // One turn later, so that the last chunk has become messages before anybody asks whether all are answered.
      flush: (done) => void setImmediate(() => this.drain(done)),
    });
    this.wire = new StdioServerTransport(this.input, stdout);
    Object.assign(this.wire, {
      onmessage: (message: JSONRPCMessage) => this.receive(message),
      onerror: (error: Error) => this.onerror?.(error),
      onclose: () => this.end(),
    } satisfies Partial<Transport>);
  }

  async start(): Promise<void> {
    await this.wire.start();
    this.stdin.on('error', (error) => this.input.destroy(error));
    this.stdin.pipe(this.input);
  }

  async send(message: JSONRPCMessage, _options?: TransportSendOptions): Promise<void> {
    await this.wire.send(message);
    const { id, method } = message as Seen;
    if (method === undefined && id !== undefined && id !== null) this.settle(id);
  }

  close(): Promise<void> {
    return this.wire.close();
  }

  private receive(message: JSONRPCMessage): void {
    const { id, method, params } = message as Seen;
    if (method !== undefined && id !== undefined && id !== null) this.unanswered.add(id);
    this.onmessage?.(withoutSubscriptions(message));
    if (method === 'notifications/cancelled' && params?.requestId !== undefined) this.settle(params.requestId);
  }

  private settle(id: string | number): void {
    this.unanswered.delete(id);
    if (this.unanswered.size === 0) this.finishInput?.();
  }

  private drain(done: () => void): void {
    this.finishInput = () => {
      this.finishInput = undefined;
      clearTimeout(this.drainTimer);
      done();
    };
    if (this.unanswered.size === 0) return this.finishInput();
    this.drainTimer = setTimeout(() => this.finishInput?.(), this.drainMs);
  }

  private end(): void {
    clearTimeout(this.drainTimer);
    this.stdin.unpipe(this.input);
    // An open input would hold the process after SIGTERM.
    this.stdin.destroy();
    this.onclose?.();
    this.resolveClosed();
  }
}
