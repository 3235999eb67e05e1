import type { Config } from '../config/config.js';
import { type Block, parseBlock } from '../request/ip-address.js';
import type { ClientAddressOptions } from './client-address.js';

/** The declared source of client addresses, out of the configuration. */
export function clientAddressOptions(config: Config): ClientAddressOptions {
  return {
    header: config.clientIpHeader?.toLowerCase(),
    depth: config.trustedProxyDepth,
    ipv6Prefix: config.ipv6Prefix,
    gateways: config.gatewayIps.map(gatewayBlock),
  };
}

function gatewayBlock(text: string): Block {
  const block = parseBlock(text);
  if (block === undefined) {
    throw new Error('TIDB_MCP_GATEWAY_IPS holds an entry that is neither an address nor a CIDR block.');
  }
  return block;
}
