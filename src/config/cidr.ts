import { BlockList, isIP, isIPv4 } from 'node:net';

/**
 * What keeps a text from being an IP address or a CIDR block of one (RFC 4632, RFC 4291 section 2.3), as the end of
 * "the value …"; undefined when it is one. A block with bits set behind its prefix is none: it names one address and
 * means many, which is a mistake in either reading.
 */
export function addressOrBlockProblem(text: string): string | undefined {
  const slash = text.indexOf('/');
  const address = slash < 0 ? text : text.slice(0, slash);
  if (!isPlainAddress(address)) return 'is neither an address nor a CIDR block';
  if (slash < 0) return undefined;
  const prefixText = text.slice(slash + 1);
  const prefix = Number(prefixText);
  const longest = isIPv4(address) ? 32 : 128;
  if (!/^(0|[1-9]\d{0,2})$/.test(prefixText) || prefix > longest) return `has no prefix length from 0 to ${longest}`;
  return isFirstOfBlock(address, prefix) ? undefined : `has bits set behind its prefix of ${prefix}`;
}

/** Zones (`fe80::1%eth0`) name an interface of one machine and never a caller. */
function isPlainAddress(text: string): boolean {
  return isIP(text) !== 0 && !text.includes('%');
}

function isFirstOfBlock(address: string, prefix: number): boolean {
  const bits = addressBits(address);
  const behind = BigInt(bits.length - prefix);
  return (bits.value & ((1n << behind) - 1n)) === 0n;
}

function addressBits(address: string): { value: bigint; length: number } {
  if (isIPv4(address)) return { value: joinParts(address.split('.').map(Number), 8n), length: 32 };
  const withoutDotted = address.replace(/\d+\.\d+\.\d+\.\d+$/, (dotted) => {
    const value = joinParts(dotted.split('.').map(Number), 8n);
    return `${(value >> 16n).toString(16)}:${(value & 0xffffn).toString(16)}`;
  });
  const [head = '', tail] = withoutDotted.split('::');
  const left = head === '' ? [] : head.split(':');
  const right = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = Array<string>(8 - left.length - right.length).fill('0');
  const parts = [...left, ...zeros, ...right].map((part) => Number.parseInt(part, 16));
  return { value: joinParts(parts, 16n), length: 128 };
}

function joinParts(parts: number[], bitsEach: bigint): bigint {
  return parts.reduce((value, part) => (value << bitsEach) | BigInt(part), 0n);
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
