import { Module } from '@nestjs/common';
import { TidbCloudService } from './tidb-cloud.service.js';
import { UserinfoService } from './userinfo.service.js';

/**
 * The client of TiDB Cloud's API, and of the endpoint that names the subjects of its OAuth tokens; configuration, clock
 * and metrics come from the global modules.
 */
@Module({
  providers: [TidbCloudService, UserinfoService],
  exports: [TidbCloudService, UserinfoService],
})
export class TidbCloudModule {}
