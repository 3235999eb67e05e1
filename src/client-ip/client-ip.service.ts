import { Inject, Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { CONFIG, type Config } from '../config/config.js';
import type { ClientAddress } from '../request/request-context.js';
import { type Block, parseBlock } from './address.js';
import { type AddressedRequest, ClientAddressReader } from './client-address.js';

/** Tells each request's client address, and warns at start-up where it can only be the connection's. */
@Injectable()
export class ClientIpService implements OnModuleInit {
  private readonly reader: ClientAddressReader;

  constructor(@Inject(CONFIG) private readonly config: Config) {
    this.reader = new ClientAddressReader({
      header: config.clientIpHeader?.toLowerCase(),
      depth: config.trustedProxyDepth,
      ipv6Prefix: config.ipv6Prefix,
      gateways: config.gatewayIps.map(gatewayBlock),
    });
  }

  onModuleInit(): void {
    if (this.config.clientIpHeader !== undefined || this.config.trustedProxyDepth > 0) return;
    new Logger('ClientIp').warn(
      'No client address source is declared, so callers are told apart by their connection: behind a load balancer ' +
        'all unproven callers share one bucket. Set TIDB_MCP_CLIENT_IP_HEADER or TIDB_MCP_TRUSTED_PROXY_DEPTH there.',
    );
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
