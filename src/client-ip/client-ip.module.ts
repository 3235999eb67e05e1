import { Module } from '@nestjs/common';
import { ClientIpService } from './client-ip.service.js';

/** Where the client address comes from. */
@Module({ providers: [ClientIpService], exports: [ClientIpService] })
export class ClientIpModule {}
