import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** An OpenTelemetry collector that keeps what it is sent, and answers as it is told. */
export class Collector {
  /** Whole request bodies. */
  readonly bodies: string[] = [];
  answer: (response: ServerResponse) => void = (response) => response.writeHead(200).end('{}');

  private constructor(private readonly server: Server) {
    server.on('request', (request, response) => {
      let body = '';
      request.on('data', (data) => (body += String(data)));
      request.on('end', () => {
        this.bodies.push(body);
        this.answer(response);
      });
    });
  }

  static async start(): Promise<Collector> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return new Collector(server);
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** The events in all log records, by the line that is their body. */
  events(): Record<string, unknown>[] {
    return this.bodies.flatMap((text) => {
      const { resourceLogs } = JSON.parse(text) as {
        resourceLogs: { scopeLogs: { logRecords: { body: { stringValue: string } }[] }[] }[];
      };
      const records = resourceLogs.flatMap(({ scopeLogs }) => scopeLogs.flatMap(({ logRecords }) => logRecords));
      return records.map(({ body }) => JSON.parse(body.stringValue) as Record<string, unknown>);
    });
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }
}
