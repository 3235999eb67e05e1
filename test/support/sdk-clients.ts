import { Client as ClientV2, StreamableHTTPClientTransport as TransportV2 } from '@modelcontextprotocol/client';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as TransportV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

/** A kind of client that people's agents are built on, and the revision that it ends up with here. */
export const SDK_CLIENTS = {
  'SDK v1': '2025-11-25',
  'SDK v2, as it is by default': '2025-11-25',
  'SDK v2, negotiating': '2026-07-28',
} as const;

/** One of {@link SDK_CLIENTS}. */
export type SdkClient = keyof typeof SDK_CLIENTS;

/** One answer that a client got over HTTP. */
export interface Exchange {
  readonly status: number;
  readonly rateLimit: string;
}

/** A client that is connected, or was refused: `failure` is what its user then reads. */
export interface Connected {
  readonly exchanges: readonly Exchange[];
  readonly failure?: string;
  listTools(): Promise<number>;
  ping(): Promise<unknown>;
  close(): Promise<void>;
}

/** Connects a client as its SDK does it, and records every answer. */
export async function connect(kind: SdkClient, url: string, headers: Record<string, string>): Promise<Connected> {
  const exchanges: Exchange[] = [];
  const record = async (input: string | URL, init?: RequestInit): Promise<Response> => {
    const response = await fetch(input, init);
    exchanges.push({ status: response.status, rateLimit: response.headers.get('ratelimit') ?? '' });
    return response;
  };
  const options = { requestInit: { headers }, fetch: record };
  const name = { name: 'test', version: '1' };
  const client =
    kind === 'SDK v1'
      ? new ClientV1(name)
      : new ClientV2(name, kind === 'SDK v2, negotiating' ? { versionNegotiation: { mode: 'auto' } } : {});
  const address = new URL(`${url}/mcp`);
  const failure = await attempt(() =>
    client instanceof ClientV1
      ? client.connect(new TransportV1(address, options))
      : client.connect(new TransportV2(address, options)),
  );
  return {
    exchanges,
    ...(failure === undefined ? {} : { failure }),
    listTools: async () => (await client.listTools()).tools.length,
    ping: () => client.ping(),
    close: () => client.close(),
  };
}

async function attempt(act: () => Promise<void>): Promise<string | undefined> {
  try {
    await act();
    return undefined;
  } catch (error) {
    return String(error);
  }
}
