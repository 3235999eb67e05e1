import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { OtlpSink } from './otlp-sink.adapter.js';

interface Posted {
  url: string;
  type: string;
  body: string;
}

let server: Server;
let posted: Posted[];
let status: number;

beforeEach(async () => {
  posted = [];
  status = 200;
  server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk) => (body += String(chunk)));
    request.on('end', () => {
      posted.push({ url: request.url ?? '', type: request.headers['content-type'] ?? '', body });
      response.writeHead(status, { 'content-type': 'application/json' }).end('{}');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterEach(() => new Promise((resolve) => server.close(resolve)));

const address = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/logs`;
const write = (sink: OtlpSink, lines: string[]) =>
  new Promise<unknown[]>((resolve) => sink.write(lines, (...result) => resolve(result)));

const LINE =
  '{"event":"rate_limited","at":"2026-11-29T12:00:00.250Z","limit":"tenant","surface":"v1","tenant":null,"representsCount":7}\n';

describe('A collector', () => {
  it('gets each event as a log record over OTLP, its fields as attributes', async () => {
    const sink = new OtlpSink(address());
    expect(await write(sink, [LINE, LINE])).toEqual([2]);
    sink.close();
    expect(posted.map(({ url, type }) => [url, type])).toEqual([['/v1/logs', 'application/json']]);
    const { resourceLogs } = JSON.parse(posted[0]!.body);
    const service = resourceLogs[0].resource.attributes.find(({ key }: { key: string }) => key === 'service.name');
    expect(service.value).toEqual({ stringValue: 'tidb-cloud-mcp' });
    const records = resourceLogs[0].scopeLogs[0].logRecords;
    expect(records).toHaveLength(2);
    expect(records[0]).toMatchObject({
      timeUnixNano: '1795953600250000000',
      severityText: 'INFO',
      body: { stringValue: LINE.trimEnd() },
    });
    const attributes = Object.fromEntries(
      records[0].attributes.map(({ key, value }: { key: string; value: object }) => [key, Object.values(value)[0]]),
    );
    expect(attributes).toEqual({ event: 'rate_limited', limit: 'tenant', surface: 'v1', representsCount: 7 });
  });

  it('that refuses loses the events, and says so without the address', async () => {
    status = 400;
    const sink = new OtlpSink(address());
    expect(await write(sink, [LINE])).toEqual([0, 'collector: 400']);
    sink.close();
  });
});
