import type { AddressedRequest, ClientAddressOptions } from './client-address.js';

/**
 * Why a request's declared source did not count, and what an operator does about it; the header's text is not repeated.
 */
export interface Fallback {
  readonly reason: string;
  readonly advice: string;
}

/** Tells why the connection of a request with these headers counts although a source is declared. */
export function explainFallback(
  { header, depth }: ClientAddressOptions,
  headers: AddressedRequest['headers'],
): Fallback {
  const value = headers[header ?? 'x-forwarded-for'];
  if (value === undefined) return missing(header);
  if (header !== undefined) {
    return {
      reason: `${header} is no single address`,
      advice: 'the proxy has to set it to one address, in place of what the caller sent',
    };
  }
  const entries = [value].flat().join(',').split(',').length;
  const found = `X-Forwarded-For has ${entries} ${entries === 1 ? 'entry' : 'entries'}`;
  if (entries < depth) {
    return {
      reason: `${found}, and the depth is ${depth}`,
      advice: `behind ${entries === 1 ? 'one proxy' : `${entries} proxies`} the depth is ${entries}; with ${depth}, callers write the entry that counts`,
    };
  }
  return {
    reason: `${found}, and number ${depth} from the right is malformed`,
    advice: 'a proxy of yours has to append an address there; log what it sends, and count from the right',
  };
}

function missing(header: string | undefined): Fallback {
  const task = header === undefined ? "append the caller's address to it" : 'set it';
  return {
    reason: `${header ?? 'X-Forwarded-For'} is missing`,
    advice: `the proxy has to ${task} in every request; if it does, this one came around the proxy, and nothing but the proxy may reach the server`,
  };
}
