import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A door to a server for clients that send no credential. */
export interface CredentialProxy {
  readonly url: string;
  close(): Promise<void>;
}

/** Passes every request on as it came, `Host` and `Origin` too, with a credential where it has none. */
export async function startCredentialProxy(port: number, credential: string): Promise<CredentialProxy> {
  const authorization = `Bearer ${credential}`;
  const server = createServer((incoming, outgoing) => {
    const { method, url: path, headers } = incoming;
    const onward = request({ host: '127.0.0.1', port, method, path, headers: { authorization, ...headers } });
    onward.on('response', (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
    });
    onward.on('error', () => outgoing.destroy());
    outgoing.on('close', () => onward.destroy());
    incoming.pipe(onward);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const close = async (): Promise<void> => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close };
}
