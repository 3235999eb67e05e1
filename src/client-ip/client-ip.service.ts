import { Inject, Injectable, Logger } from '@nestjs/common';
import { CONFIG, type Config } from '../config/config.js';
import type { ClientAddress } from '../request/request-context.js';
import { clientAddressOptions } from './client-address-options.js';
import {
  type AddressedRequest,
  type ClientAddressOptions,
  ClientAddressReader,
  fallbackReason,
} from './client-address.js';

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

  /** Warns, once, of a request whose declared source did not count; how often it happens is told by the metrics. */
  warnOfFallback({ headers }: AddressedRequest): void {
    if (this.hasWarned) return;
    this.hasWarned = true;
    const reason = fallbackReason(this.options, headers[this.options.header ?? 'x-forwarded-for']);
    new Logger('ClientIp').warn(
      `A request's client address could not be read from where it is declared (${reason}), so its connection counts. ` +
        'Check the proxy and TIDB_MCP_TRUSTED_PROXY_DEPTH or TIDB_MCP_CLIENT_IP_HEADER; check --explain tells more.',
    );
  }

  /** See {@link ClientAddressReader.read}. */
  read(request: AddressedRequest): ClientAddress {
    return this.reader.read(request);
  }
}
