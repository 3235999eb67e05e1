import { BlockList, isIP, isIPv4 } from 'node:net';
import { isNetwork, parseAddress, parseBlock } from '../request/ip-address.js';

/**
 * What keeps a text from being an IP address or a CIDR block of one (RFC 4632, RFC 4291 section 2.3), as the end of
 * "the value …"; undefined when it is one. A block with bits set behind its prefix is none: it names one address and
 * means many, which is a mistake in either reading.
 */
export function addressOrBlockProblem(text: string): string | undefined {
  const slash = text.indexOf('/');
  const address = slash < 0 ? text : text.slice(0, slash);
  if (parseAddress(address) === undefined) return 'is neither an address nor a CIDR block';
  if (slash < 0) return undefined;
  const prefixText = text.slice(slash + 1);
  const prefix = Number(prefixText);
  const longest = isIPv4(address) ? 32 : 128;
  if (!/^(0|[1-9]\d{0,2})$/.test(prefixText) || prefix > longest) return `has no prefix length from 0 to ${longest}`;
  const block = parseBlock(text);
  return block !== undefined && isNetwork(block) ? undefined : `has bits set behind its prefix of ${prefix}`;
}

const LOOPBACK = new BlockList();
LOOPBACK.addSubnet('127.0.0.0', 8, 'ipv4');
LOOPBACK.addAddress('::1', 'ipv6');

/** Whether a name or address to listen on is reachable from this machine alone. */
export function isLoopback(host: string): boolean {
  const family = isIP(host);
  if (family === 0) return host.toLowerCase() === 'localhost';
  return LOOPBACK.check(host, family === 4 ? 'ipv4' : 'ipv6');
}
