import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type Config } from '../config/config.js';
import type { ClientAddress } from '../request/request-context.js';
import { clientAddressOptions } from './client-address-options.js';
import { type AddressedRequest, ClientAddressReader } from './client-address.js';

/** Tells each request's client address from the configured source. */
@Injectable()
export class ClientIpService {
  private readonly reader: ClientAddressReader;

  constructor(@Inject(CONFIG) config: Config) {
    this.reader = new ClientAddressReader(clientAddressOptions(config));
  }

  /** See {@link ClientAddressReader.read}. */
  read(request: AddressedRequest): ClientAddress {
    return this.reader.read(request);
  }
}
