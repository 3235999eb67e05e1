import { Inject, Injectable, Logger } from '@nestjs/common';
import { CONFIG, type Config } from '../config/config.js';
import type { ClientAddress } from '../request/request-context.js';
import { clientAddressOptions } from './client-address-options.js';
import { type AddressedRequest, type ClientAddressOptions, ClientAddressReader } from './client-address.js';
import { explainFallback } from './fallback.js';

/** Tells each request's client address from the configured source. */
@Injectable()
export class ClientIpService {
  private readonly reader: ClientAddressReader;

  private readonly options: ClientAddressOptions;
  private hasWarned = false;

  constructor(@Inject(CONFIG) config: Config) {
    this.options = clientAddressOptions(config);
    this.reader = new ClientAddressReader(this.options);
  }

  /**
   * Warns, once, of a request that tells that the declared source is not the right one: it did not count, or none is
   * declared and a proxy seems to be there. How often it happens is told by the metrics.
   */
  warnOf({ source }: ClientAddress, { headers }: AddressedRequest): void {
    if (this.hasWarned || (source !== 'fallback' && source !== 'socket')) return;
    const text = source === 'fallback' ? this.fallbackWarning(headers) : ignoredWarning(headers);
    if (text === undefined) return;
    this.hasWarned = true;
    new Logger('ClientIp').warn(text);
  }

  /** See {@link ClientAddressReader.read}. */
  read(request: AddressedRequest): ClientAddress {
    return this.reader.read(request);
  }

  private fallbackWarning(headers: AddressedRequest['headers']): string {
    const { reason, advice } = explainFallback(this.options, headers);
    return (
      `A request's client address could not be read from where it is declared, so its connection counts. ${reason}: ${advice}. ` +
      'Check the proxy and TIDB_MCP_TRUSTED_PROXY_DEPTH or TIDB_MCP_CLIENT_IP_HEADER; check --explain tries headers.'
    );
  }
}

/** Asked at each request until there is something to say, so it looks at two names and no more. */
function ignoredWarning(headers: AddressedRequest['headers']): string | undefined {
  const isListed = headers['x-forwarded-for'] !== undefined;
  if (!isListed && headers.forwarded === undefined) return undefined;
  return (
    `A request brought ${isListed ? 'X-Forwarded-For' : 'Forwarded'}, which is ignored, since no source of the client address is declared. ` +
    'If a proxy of yours sets it, all callers behind that proxy share one pre-auth bucket: set TIDB_MCP_TRUSTED_PROXY_DEPTH or TIDB_MCP_CLIENT_IP_HEADER. ' +
    'Where callers connect directly, one of them wrote it, and nothing is wrong.'
  );
}
