import { Module } from '@nestjs/common';
import { AuthModule } from '../auth/auth.module.js';
import { ClientIpModule } from '../client-ip/client-ip.module.js';
import { LimitsModule } from '../limits/limits.module.js';
import { ObservabilityModule } from '../observability/observability.module.js';
import { AnswerService } from './answer.service.js';
import { EntryService } from './entry.service.js';
import { ErrorFilter } from './error.filter.js';
import { FrontDoorService } from './front-door.service.js';

/** What a request meets before its controller and after it. */
@Module({
  imports: [AuthModule, ClientIpModule, LimitsModule, ObservabilityModule],
  providers: [EntryService, AnswerService, FrontDoorService, ErrorFilter],
  exports: [AnswerService, FrontDoorService, ErrorFilter],
})
export class HttpModule {}
