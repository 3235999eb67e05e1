import { Module } from '@nestjs/common';
import { TidbCloudService } from './tidb-cloud.service.js';

/** The client of TiDB Cloud's API; configuration, clock and metrics come from the global modules. */
@Module({
  providers: [TidbCloudService],
  exports: [TidbCloudService],
})
export class TidbCloudModule {}
