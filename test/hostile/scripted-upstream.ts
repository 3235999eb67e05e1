import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';

/** What the upstream does with one request, whose head it is shown. */
export type Script = (socket: Socket, head: string) => void;

/** A TCP server in TiDB Cloud's place that says whatever a test wants, byte by byte, and keeps all that it was sent. */
export class ScriptedUpstream {
  script: Script = (socket) => socket.destroy();
  /** Everything that any client sent. */
  received = '';
  connections = 0;
  private readonly sockets = new Set<Socket>();

  private constructor(private readonly server: Server) {
    server.on('connection', (socket) => this.serve(socket));
  }

  static async start(): Promise<ScriptedUpstream> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return new ScriptedUpstream(server);
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private serve(socket: Socket): void {
    this.connections += 1;
    this.sockets.add(socket);
    let pending = '';
    socket.on('error', () => undefined).on('close', () => this.sockets.delete(socket));
    socket.on('data', (data) => {
      const text = data.toString('latin1');
      this.received += text;
      pending += text;
      for (let end = pending.indexOf('\r\n\r\n'); end >= 0; end = pending.indexOf('\r\n\r\n')) {
        const head = pending.slice(0, end);
        pending = pending.slice(end + 4);
        this.script(socket, head);
      }
    });
  }
}

/** A whole answer with its length; a character is a byte. */
export function answer(status: string, body = '', headers: readonly string[] = []): string {
  const lines = [`HTTP/1.1 ${status}`, `Content-Length: ${body.length}`, ...headers];
  return `${lines.join('\r\n')}\r\n\r\n${body}`;
}

const CHALLENGE = 'WWW-Authenticate: Digest realm="r", nonce="n", qop="auth"';
const ERROR = '{"code":49900001,"message":"no","details":[]}';

/** Asks for a signature, and hands a signed request on. */
export function signed(then: Script): Script {
  return (socket, head) => {
    if (/\r\nauthorization: /i.test(head)) then(socket, head);
    else socket.write(answer('401 Unauthorized', ERROR, [CHALLENGE]));
  };
}

/** Answers the validating call, and has anything else answered by `then`. */
export function proving(then: Script): Script {
  return signed((socket, head) => {
    if (head.includes('pageSize=1 '))
      socket.write(answer('200 OK', '{"clusters":[]}', ['Content-Type: application/json']));
    else then(socket, head);
  });
}
