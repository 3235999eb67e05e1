import type { ClientAddress } from '../request/request-context.js';
import { parseAddress } from '../request/ip-address.js';
import { type AddressedRequest, type ClientAddressOptions, ClientAddressReader } from './client-address.js';
import { explainFallback } from './fallback.js';

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
  return { ok: true, lines: describe(options, { headers: byName, socket: { remoteAddress: from } }) };
}

function describe(options: ClientAddressOptions, request: AddressedRequest): string[] {
  const found = new ClientAddressReader(options).read(request);
  const budget = found.gateway === undefined ? 'the pre-auth budget' : `the gateway budget (${found.gateway})`;
  return [
    `client address  ${found.address}`,
    `counted under   ${found.key}, with ${budget}`,
    `source          ${found.source}: ${reason(found, options, request)}`,
    ...next(found, options, request),
  ];
}

function reason({ source }: ClientAddress, options: ClientAddressOptions, { headers }: AddressedRequest): string {
  const { header, depth } = options;
  switch (source) {
    case 'socket':
      return 'no source is declared, so the connection counts and every header is ignored';
    case 'header':
      return `the header ${header} holds one address`;
    case 'forwarded': {
      const condition = depth === 1 ? '' : `; behind fewer than ${depth} proxies that append, callers write it`;
      return `entry ${depth} from the right of X-Forwarded-For${condition}`;
    }
    case 'fallback':
      return `${explainFallback(options, headers).reason}, so the connection counts`;
  }
}

/** What the operator may want to change. */
function next({ source }: ClientAddress, options: ClientAddressOptions, request: AddressedRequest): string[] {
  const { headers } = request;
  if (source === 'fallback') return [`what to do      ${explainFallback(options, headers).advice}`];
  if (source !== 'socket' || headers['x-forwarded-for'] === undefined) return [];
  const behindOne = { ...options, depth: 1 };
  const found = new ClientAddressReader(behindOne).read(request);
  return [
    found.source === 'forwarded'
      ? `with depth 1    ${found.address}, where one proxy of yours appends to X-Forwarded-For: TIDB_MCP_TRUSTED_PROXY_DEPTH=1`
      : `with depth 1    ${found.address} too: ${explainFallback(behindOne, headers).reason}`,
  ];
}
