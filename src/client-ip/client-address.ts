import type { IncomingHttpHeaders } from 'node:http';
import type { AddressSource, ClientAddress } from '../request/request-context.js';
import {
  type Address,
  type Block,
  covers,
  formatAddress,
  formatNetwork,
  parseAddress,
  parseForwardedAddress,
} from '../request/ip-address.js';

/** What decides where the client address is read from; see the spec's "Where the client address comes from". */
export interface ClientAddressOptions {
  /** A header that the proxy sets, in lower case; wins over the depth. */
  readonly header: string | undefined;
  /** Hops counted from the right of `X-Forwarded-For`; 0: not declared. */
  readonly depth: number;
  /** An IPv6 caller is keyed by this many leading bits. */
  readonly ipv6Prefix: number;
  /** Addresses that front many tenants. */
  readonly gateways: readonly Block[];
}

/** The part of Node's request that an address can come from. */
export interface AddressedRequest {
  readonly headers: IncomingHttpHeaders;
  readonly socket: { readonly remoteAddress?: string | undefined };
}

/** What stands for a peer without an address (a connection that is already gone): one bucket for all of them. */
const UNKNOWN: Address = { family: 4, parts: [0, 0, 0, 0] };

/**
 * Reads the client address from the declared source, and from nowhere else: a source that is missing, short or
 * malformed in a request falls back to the connection, never to another header. Spec: "Where the client address comes
 * from".
 */
export class ClientAddressReader {
  /** A connection's own address never changes, so it is read once per connection. */
  private readonly bySocket = new WeakMap<object, { own: ClientAddress; fallback: ClientAddress }>();

  constructor(private readonly options: ClientAddressOptions) {}

  /** The address of the request's client; pure but for the per-connection cache, and never fails. */
  read(request: AddressedRequest): ClientAddress {
    const { header, depth } = this.options;
    if (header === undefined && depth === 0) return this.ofSocket(request.socket).own;
    const declared =
      header === undefined
        ? entryFromRight(request.headers['x-forwarded-for'], depth)
        : single(request.headers[header]);
    const address = declared === undefined ? undefined : parseForwardedAddress(declared);
    if (address === undefined) return this.ofSocket(request.socket).fallback;
    return this.describe(address, header === undefined ? 'forwarded' : 'header');
  }

  private ofSocket(socket: AddressedRequest['socket']): { own: ClientAddress; fallback: ClientAddress } {
    const known = this.bySocket.get(socket);
    if (known !== undefined) return known;
    const zoneless = socket.remoteAddress?.replace(/%.*$/, '');
    const address = (zoneless === undefined ? undefined : parseAddress(zoneless)) ?? UNKNOWN;
    const entry = { own: this.describe(address, 'socket'), fallback: this.describe(address, 'fallback') };
    this.bySocket.set(socket, entry);
    return entry;
  }

  private describe(address: Address, source: AddressSource): ClientAddress {
    const v4 = address.family === 4;
    return {
      address: formatAddress(address),
      key: v4 ? formatAddress(address) : formatNetwork(address, this.options.ipv6Prefix),
      network: formatNetwork(address, v4 ? 24 : 48),
      source,
      gateway: this.options.gateways.find((block) => covers(block, address))?.text,
    };
  }
}

/** Node joins repeated lines of a header it does not know with commas, so a list is malformed by itself. */
function single(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? undefined : value;
}

/** The depth-th entry from the right over all lines; empty entries count. Undefined when there are fewer. */
function entryFromRight(value: string | string[] | undefined, depth: number): string | undefined {
  if (value === undefined) return undefined;
  const list = Array.isArray(value) ? value.join(',') : value;
  let end = list.length;
  for (let hop = 1; ; hop += 1) {
    const comma = end === 0 ? -1 : list.lastIndexOf(',', end - 1);
    if (hop === depth) return list.slice(comma + 1, end);
    if (comma < 0) return undefined;
    end = comma;
  }
}
