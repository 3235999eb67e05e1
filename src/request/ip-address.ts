import { isIPv4, isIPv6 } from 'node:net';

/**
 * An IP address as eight 16-bit groups (RFC 4291) or four octets; IPv4-mapped IPv6 is IPv4.
 * Contract: "An address in a header is dotted-decimal IPv4 or IPv6; IPv4-mapped IPv6 is IPv4".
 */
export interface Address {
  readonly family: 4 | 6;
  /** Octets for IPv4, 16-bit groups for IPv6. */
  readonly parts: readonly number[];
}

/** A network in CIDR notation; a single address is a network of its full length. */
export interface Block {
  readonly address: Address;
  readonly bits: number;
  /** As it was listed. */
  readonly text: string;
}

/** Reads a bare address, or answers undefined: no port, no zone, no brackets, no white space. */
export function parseAddress(text: string): Address | undefined {
  if (isIPv4(text)) return { family: 4, parts: text.split('.').map(Number) };
  if (!isIPv6(text) || text.includes('%')) return undefined;
  return unmapped(ipv6Groups(text));
}

/**
 * Reads an address as a proxy writes it: optional white space around it, and a port (an IPv6 address then stands in
 * brackets), which is dropped. Anything else is malformed: undefined.
 */
export function parseForwardedAddress(text: string): Address | undefined {
  const trimmed = withoutSpaceAround(text);
  const withPort = /^(?:\[([^\]]*)\]|([^:]*)):(\d{1,5})$/.exec(trimmed);
  if (withPort === null) return parseAddress(trimmed);
  const [, bracketed, plain, port] = withPort;
  if (Number(port) > 65_535) return undefined;
  if (plain !== undefined) return isIPv4(plain) ? parseAddress(plain) : undefined;
  return bracketed !== undefined && isIPv6(bracketed) ? parseAddress(bracketed) : undefined;
}

/**
 * Without the spaces and tabs at both ends; linear, where a pattern anchored at the end is quadratic in a run of them.
 */
function withoutSpaceAround(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && isSpace(text.charCodeAt(start))) start += 1;
  while (end > start && isSpace(text.charCodeAt(end - 1))) end -= 1;
  return text.slice(start, end);
}

function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x09;
}

/** Reads `address` or `address/bits`; bits beyond the prefix are ignored. Undefined when it is neither. */
export function parseBlock(text: string): Block | undefined {
  const match = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(text);
  const address = match?.[1] === undefined ? undefined : parseAddress(match[1]);
  if (address === undefined) return undefined;
  const full = lengthOf(address);
  let bits = match?.[2] === undefined ? full : Number(match[2]);
  const mapped = address.family === 4 && text.includes(':');
  if (mapped && match?.[2] !== undefined) bits -= 96;
  if (bits < 0 || bits > full) return undefined;
  return { address, bits, text };
}

/** Whether the block covers the address. */
export function covers(block: Block, address: Address): boolean {
  if (block.address.family !== address.family) return false;
  const width = partWidth(address);
  let left = block.bits;
  for (let i = 0; left > 0; i += 1, left -= width) {
    const shift = Math.max(0, width - left);
    if ((block.address.parts[i] ?? 0) >> shift !== (address.parts[i] ?? 0) >> shift) return false;
  }
  return true;
}

/** The canonical text: dotted decimal, or RFC 5952. */
export function formatAddress(address: Address): string {
  return address.family === 4 ? address.parts.join('.') : formatGroups(address.parts);
}

/**
 * The network of that many leading bits in CIDR notation, such as `2001:db8::/64`; the address itself at full length.
 */
export function formatNetwork(address: Address, bits: number): string {
  const text = formatAddress(firstOf(address, bits));
  return bits >= lengthOf(address) ? text : `${text}/${bits}`;
}

/** Whether the block's address is the first one of its network: no bits are set behind the prefix. */
export function isNetwork({ address, bits }: Block): boolean {
  return firstOf(address, bits).parts.every((part, i) => part === address.parts[i]);
}

function firstOf(address: Address, bits: number): Address {
  const width = partWidth(address);
  const parts = address.parts.map((part, i) => {
    const drop = Math.min(width, Math.max(0, (i + 1) * width - bits));
    return (part >> drop) << drop;
  });
  return { family: address.family, parts };
}

function partWidth({ family }: Address): number {
  return family === 4 ? 8 : 16;
}

function lengthOf(address: Address): number {
  return partWidth(address) * address.parts.length;
}

function ipv6Groups(text: string): number[] {
  const dotted = /(\d+)\.(\d+)\.(\d+)\.(\d+)$/.exec(text);
  const plain = dotted === null ? text : text.slice(0, dotted.index) + asGroups(dotted.slice(1).map(Number));
  const [head = '', tail] = plain.split('::');
  const before = head === '' ? [] : head.split(':');
  const after = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = Array.from({ length: 8 - before.length - after.length }, () => '0');
  return [...before, ...zeros, ...after].map((group) => Number.parseInt(group, 16));
}

function asGroups([a = 0, b = 0, c = 0, d = 0]: number[]): string {
  return `${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`;
}

function unmapped(groups: number[]): Address {
  const [g6 = 0, g7 = 0] = groups.slice(6);
  const mapped = groups[5] === 0xffff && groups.slice(0, 5).every((group) => group === 0);
  return mapped ? { family: 4, parts: [g6 >> 8, g6 & 255, g7 >> 8, g7 & 255] } : { family: 6, parts: groups };
}

function formatGroups(groups: readonly number[]): string {
  let best = { start: -1, length: 1 };
  for (let start = 0; start < 8; start += 1) {
    let length = 0;
    while (groups[start + length] === 0) length += 1;
    if (length > best.length) best = { start, length };
  }
  const hex = groups.map((group) => group.toString(16));
  if (best.start < 0) return hex.join(':');
  return `${hex.slice(0, best.start).join(':')}::${hex.slice(best.start + best.length).join(':')}`;
}
