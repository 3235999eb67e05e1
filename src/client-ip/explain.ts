import type { ClientAddress } from '../request/request-context.js';
import { parseAddress } from './address.js';
import { type ClientAddressOptions, ClientAddressReader, fallbackReason } from './client-address.js';

/** What was made of pasted headers: lines to show, or what is wrong with them. */
export type Explanation =
  { readonly ok: true; readonly lines: readonly string[] } | { readonly ok: false; readonly message: string };

/**
 * Says which client address a request with these headers would be counted under, and why; for an operator who wonders
 * whether the proxy setting is right.
 * @param headers lines of the form `Name: value`
 * @param from the address of the connection
 */
export function explainClientAddress(
  options: ClientAddressOptions,
  headers: readonly string[],
  from: string,
): Explanation {
  if (parseAddress(from) === undefined) return { ok: false, message: `--from '${from}' is not an IP address.` };
  const byName: Record<string, string> = {};
  for (const line of headers) {
    const [, name, value] = /^([^:\s]+):[ \t]*(.*?)[ \t]*$/.exec(line) ?? [];
    if (name === undefined || value === undefined) {
      return { ok: false, message: `--explain '${line}' is not a header line such as "X-Forwarded-For: 1.2.3.4".` };
    }
    const key = name.toLowerCase();
    byName[key] = byName[key] === undefined ? value : `${byName[key]}, ${value}`;
  }
  const found = new ClientAddressReader(options).read({ headers: byName, socket: { remoteAddress: from } });
  return { ok: true, lines: describe(found, options, byName) };
}

function describe(found: ClientAddress, options: ClientAddressOptions, headers: Record<string, string>): string[] {
  const budget = found.gateway === undefined ? 'the pre-auth budget' : `the gateway budget (${found.gateway})`;
  return [
    `client address  ${found.address}`,
    `counted under   ${found.key}, with ${budget}`,
    `source          ${found.source}: ${reason(found, options, headers)}`,
  ];
}

function reason(found: ClientAddress, options: ClientAddressOptions, headers: Record<string, string>): string {
  const { header, depth } = options;
  switch (found.source) {
    case 'socket':
      return 'no source is declared, so the connection counts and every header is ignored';
    case 'header':
      return `the header ${header} holds one address`;
    case 'forwarded':
      return `entry ${depth} from the right of X-Forwarded-For`;
    case 'fallback': {
      return `${fallbackReason(options, headers[header ?? 'x-forwarded-for'])}, so the connection counts; behind the proxy this must not happen`;
    }
  }
}
