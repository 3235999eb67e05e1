import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type Config } from '../config/config.js';
import type { ClientAddress } from '../request/request-context.js';
import { type Block, parseBlock } from './address.js';
import { type AddressedRequest, ClientAddressReader } from './client-address.js';

/** Tells each request's client address from the configured source. */
@Injectable()
export class ClientIpService {
  private readonly reader: ClientAddressReader;

  constructor(@Inject(CONFIG) config: Config) {
    this.reader = new ClientAddressReader({
      header: config.clientIpHeader?.toLowerCase(),
      depth: config.trustedProxyDepth,
      ipv6Prefix: config.ipv6Prefix,
      gateways: config.gatewayIps.map(gatewayBlock),
    });
  }

  /** See {@link ClientAddressReader.read}. */
  read(request: AddressedRequest): ClientAddress {
    return this.reader.read(request);
  }
}

function gatewayBlock(text: string): Block {
  const block = parseBlock(text);
  if (block === undefined)
    throw new Error('TIDB_MCP_GATEWAY_IPS holds an entry that is neither an address nor a CIDR block.');
  return block;
}
