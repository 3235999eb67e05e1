import { isIP, isIPv6 } from 'node:net';

/** A host name as RFC 1123 has it: labels of letters, digits and inner hyphens. */
const HOST_NAME = /^(?=.{1,253}$)[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*$/i;

/** A field name as RFC 9110, section 5.1, has it. */
const HEADER_NAME = /^[!#$%&'*+\-.^_`|~0-9a-z]{1,128}$/;

/** Scheme and authority, and nothing behind them. */
const ORIGIN = /^([a-z][a-z0-9+.-]*):\/\/([^/?#@\s]+)$/i;

/** What ends in a number is an address to whoever reads it (WHATWG URL, "ends in a number"), `0x7f` too. */
const ENDS_IN_NUMBER = /(^|\.)(\d+|0x[0-9a-f]*)$/i;

/** Schemes without pages, or whose pages send `Origin: null`. */
const WITHOUT_ORIGIN = /^(about|blob|data|file|filesystem|ftp|javascript|mailto|view-source|wss?):/i;

/** Whether a text is an address (IPv6 without brackets) or a host name; what ends in a number must be an address. */
export function isHost(text: string): boolean {
  return (isIP(text) !== 0 && !text.includes('%')) || (HOST_NAME.test(text) && !ENDS_IN_NUMBER.test(text));
}

/** Whether a lower-case text can be a header's name. */
export function isHeaderName(text: string): boolean {
  return HEADER_NAME.test(text);
}

/**
 * An entry of the accepted `Host` headers in the form they are compared in: lower case, IPv6 in brackets, a port only
 * where the entry has one. Undefined for anything else.
 */
export function readHostEntry(text: string): string | undefined {
  if (text === '*') return text;
  if (isIPv6(text)) return readHostEntry(`[${text}]`);
  const parts = /^(\[[^\]]+\]|[^:[\]]+)(?::(\d{1,5}))?$/.exec(text);
  const name = parts?.[1];
  const port = Number(parts?.[2] ?? 1);
  if (name === undefined || port < 1 || port > 65_535) return undefined;
  const bare = name.startsWith('[') ? name.slice(1, -1) : name;
  if (!isHost(bare) || (name.startsWith('[') && !isIPv6(bare))) return undefined;
  // A client writes an IPv6 host in its shortest form, whatever form the operator chose.
  const canonical = name.startsWith('[') ? new URL(`http://${name}`).hostname : bare.toLowerCase();
  return parts?.[2] === undefined ? canonical : `${canonical}:${port}`;
}

/** Whether a text has a scheme that browsers send no origin of. */
export function isWithoutOrigin(text: string): boolean {
  return WITHOUT_ORIGIN.test(text);
}

/**
 * An origin as a browser sends it (RFC 6454, section 6.2): lower case, a default port dropped. Undefined for anything
 * that is no origin: `null`, a wildcard, a URL with a path.
 */
export function readOrigin(text: string): string | undefined {
  const parts = ORIGIN.exec(text);
  const authority = parts?.[2];
  if (authority === undefined || authority === '*' || readHostEntry(authority) === undefined) return undefined;
  if (!URL.canParse(text)) return undefined;
  const url = new URL(text);
  return url.origin === 'null' ? `${url.protocol}//${authority.toLowerCase()}` : url.origin;
}
