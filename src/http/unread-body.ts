import type { IncomingHttpHeaders } from 'node:http';

/** Node drains what a refused client still sends; up to this much is cheaper than a new connection. */
const DRAIN_AT_MOST_BYTES = 65_536;

/**
 * Whether a request that is answered without its body being read had better lose its connection: the body is large, or
 * its length is unknown. Contract: "Guards read no byte of the body".
 */
export function closesConnection(headers: IncomingHttpHeaders): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > DRAIN_AT_MOST_BYTES;
}
