import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ApiRequest, ApiResponse } from './sandbox-api.js';
import type { SandboxHost } from './routes.js';

/** What can go wrong between a client and TiDB Cloud, at the flick of a switch; read at every request. */
export interface Faults {
  /** Every request is answered 503. */
  readonly outage: boolean;
  /** No request is answered. */
  readonly hang: boolean;
  /** Answers wait this long. */
  readonly slowMs: number;
  /** The connection is reset once the request has been read. */
  readonly reset: boolean;
  /** Successes carry HTML in place of JSON. */
  readonly garbage: boolean;
  /** Successes are padded to more than this many bytes. */
  readonly padBytes: number;
  /** Every request is answered 307 to here. */
  readonly redirectTo: string | undefined;
}

/** One request that the sandbox has seen. */
export interface LoggedRequest {
  readonly host: SandboxHost;
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  readonly query: string;
  /** The scheme that it was signed with, in lower case, or `none`. */
  readonly scheme: string;
  /** 0 until it is answered. */
  status: number;
  /** Whose key it was, or null where that was not shown. */
  publicKey: string | null;
}

const MAX_BODY_BYTES = 1024 * 1024;
const MAX_LOGGED = 10_000;
const GARBAGE = '<!doctype html><title>Welcome to the airport Wi-Fi</title>';

/** One of the sandbox's two hosts: an HTTP server on an ephemeral port of the loopback interface. */
export class SandboxServer {
  private readonly server: Server;
  private readonly timers = new Set<NodeJS.Timeout>();

  /** @param log what has been seen, the newest last; the oldest is dropped beyond 10,000 */
  constructor(
    private readonly host: SandboxHost,
    private readonly faults: Faults,
    private readonly log: LoggedRequest[],
    private readonly handle: (request: ApiRequest) => ApiResponse,
  ) {
    this.server = createServer((request, response) => {
      // A mistake in the sandbox is a 500 of the sandbox, never the end of the process that it runs in.
      this.serve(request, response).catch(() => {
        if (response.headersSent) response.destroy();
        else response.writeHead(500).end();
      });
    });
  }

  /** Resolves to its base URL, without `/v1beta1`. */
  listen(): Promise<string> {
    return new Promise((resolve, reject) => {
      this.server.once('error', reject);
      this.server.listen(0, '127.0.0.1', () => {
        this.server.off('error', reject);
        resolve(`http://127.0.0.1:${(this.server.address() as AddressInfo).port}`);
      });
    });
  }

  /** Closes the port and every connection, hanging ones too. */
  close(): Promise<void> {
    for (const timer of this.timers) clearTimeout(timer);
    return new Promise((resolve) => {
      this.server.close(() => resolve());
      this.server.closeAllConnections();
    });
  }

  private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const logged = this.record(request);
    const body = await readBody(request);
    if (body === undefined) {
      request.destroy();
      return;
    }
    if (this.faults.reset) {
      request.socket.resetAndDestroy();
      return;
    }
    if (this.faults.hang) return;
    if (this.faults.slowMs > 0) await this.sleep(this.faults.slowMs);
    this.answer(request, response, logged, body);
  }

  private record(request: IncomingMessage): LoggedRequest {
    const [path = '', query = ''] = (request.url ?? '').split('?', 2);
    const scheme = request.headers.authorization?.split(' ', 1)[0]?.toLowerCase() ?? 'none';
    const logged = { host: this.host, method: request.method ?? '', path, query, scheme, status: 0, publicKey: null };
    this.log.push(logged);
    if (this.log.length > MAX_LOGGED) this.log.shift();
    return logged;
  }

  private answer(request: IncomingMessage, response: ServerResponse, logged: LoggedRequest, body: string): void {
    const { outage, garbage, padBytes, redirectTo } = this.faults;
    if (outage || redirectTo !== undefined) {
      logged.status = outage ? 503 : 307;
      const headers = outage ? { 'Content-Type': 'text/html' } : { Location: redirectTo ?? '' };
      response.writeHead(logged.status, headers).end(outage ? 'upstream connect error' : '');
      return;
    }
    const { method = '', url: target = '' } = request;
    const { authorization } = request.headers;
    const answer = this.handle({ host: this.host, method, target, authorization, body });
    logged.status = answer.status;
    logged.publicKey = answer.publicKey;
    const succeeded = answer.status === 200;
    const padded = succeeded && padBytes > 0 ? { ...answer.body, padding: 'x'.repeat(padBytes) } : answer.body;
    const text = succeeded && garbage ? GARBAGE : JSON.stringify(padded);
    response.writeHead(answer.status, { ...answer.headers, 'Content-Type': 'application/json' }).end(text);
  }

  private sleep(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        this.timers.delete(timer);
        resolve();
      }, ms);
      this.timers.add(timer);
    });
  }
}

/** The whole body as text, or undefined where it is too large or broke off. */
async function readBody(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of request as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > MAX_BODY_BYTES) return undefined;
      chunks.push(chunk);
    }
  } catch {
    return undefined;
  }
  return Buffer.concat(chunks).toString('utf8');
}
