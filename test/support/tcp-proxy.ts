import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/** What a proxy does with the connections that go through it. */
export type ProxyMode = 'forward' | 'refuse' | 'hang' | 'slow';

/** How late each piece is that a client sends through a slow proxy. */
const SLOW_MS = 900;

/**
 * A TCP proxy between a test and a real server. It can refuse, accept without ever answering, be slow, and cut a
 * connection at a chosen byte pattern: before it is forwarded, or after, so that the server does its work and the
 * answer is lost.
 */
export class TcpProxy {
  private readonly server: Server;
  private readonly sockets = new Set<Socket>();
  private mode: ProxyMode = 'forward';
  private cut:
    | { pattern: Buffer; when: 'before' | 'after' | 'never'; resolve: () => void; behind?: string | undefined }
    | undefined;

  private constructor(
    private readonly targetHost: string,
    private readonly targetPort: number,
  ) {
    this.server = createServer((client) => this.accept(client));
  }

  /** Starts a proxy on a free port. */
  static async start(targetHost: string, targetPort: number): Promise<TcpProxy> {
    const proxy = new TcpProxy(targetHost, targetPort);
    await new Promise<void>((resolve) => proxy.server.listen(0, '127.0.0.1', resolve));
    return proxy;
  }

  /** Starts a proxy in front of a database URL. */
  static forUrl(text: string): Promise<TcpProxy> {
    const url = new URL(text);
    return TcpProxy.start(url.hostname, Number(url.port));
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  /** The same URL through this proxy. */
  url(text: string): string {
    const url = new URL(text);
    url.hostname = '127.0.0.1';
    url.port = String(this.port);
    return url.href;
  }

  /** Changes what happens to new connections, and what is open already: `refuse` cuts it, `hang` silences it. */
  set(mode: ProxyMode): void {
    this.mode = mode;
    if (mode === 'forward') return this.cutAll();
    if (mode === 'slow') return;
    for (const socket of this.sockets) {
      if (mode === 'refuse') socket.destroy();
      else socket.unpipe();
    }
  }

  /** Cuts every open connection, as a restart of the server does. */
  cutAll(): void {
    for (const socket of this.sockets) socket.destroy();
  }

  /**
   * Cuts the next connection whose client sends `pattern`, once.
   * @param behind what has to have been sent earlier, in a piece of its own
   * @returns resolves when it was cut
   */
  cutOn(pattern: string, when: 'before' | 'after', behind?: string): Promise<void> {
    return new Promise((resolve) => {
      this.cut = { pattern: Buffer.from(pattern), when, resolve, behind };
    });
  }

  /**
   * Silences the next connection whose client sends `pattern`, once: it stays open, and nothing goes through any more.
   * @returns resolves when it was silenced
   */
  stallOn(pattern: string): Promise<void> {
    return new Promise((resolve) => {
      this.cut = { pattern: Buffer.from(pattern), when: 'never', resolve };
    });
  }

  /** Cuts everything and stops listening. */
  async close(): Promise<void> {
    this.cutAll();
    await new Promise<void>((resolve) => this.server.close(() => resolve()));
  }

  private get forwards(): boolean {
    return this.mode === 'forward' || this.mode === 'slow';
  }

  private accept(client: Socket): void {
    this.track(client);
    if (this.mode === 'refuse') return void client.destroy();
    if (this.mode === 'hang') return;
    const target = this.track(connect(this.targetPort, this.targetHost));
    client.on('data', (chunk: Buffer) => this.forward(client, target, chunk));
    target.on('data', (chunk: Buffer) => {
      if (this.forwards && !client.destroyed) client.write(chunk);
    });
    client.on('close', () => target.destroy());
    target.on('close', () => client.destroy());
  }

  private forward(client: Socket, target: Socket, chunk: Buffer): void {
    if (!this.forwards) return;
    if (this.mode === 'slow') return void setTimeout(() => target.write(chunk), SLOW_MS);
    const cut = this.cut;
    if (cut?.behind !== undefined) {
      if (chunk.includes(cut.behind)) this.cut = { ...cut, behind: undefined };
      return void target.write(chunk);
    }
    if (cut === undefined || !chunk.includes(cut.pattern)) return void target.write(chunk);
    this.cut = undefined;
    if (cut.when === 'never') {
      client.removeAllListeners('data');
      return cut.resolve();
    }
    if (cut.when === 'before') {
      client.destroy();
      return cut.resolve();
    }
    // The answer shows that the server has done its work; it goes no further than this.
    target.removeAllListeners('data');
    target.once('data', () => {
      client.destroy();
      cut.resolve();
    });
    target.write(chunk);
  }

  private track(socket: Socket): Socket {
    this.sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => this.sockets.delete(socket));
    return socket;
  }
}
