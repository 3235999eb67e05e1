import { Module } from '@nestjs/common';
import { ControlDbModule } from '../control-db/control-db.module.js';
import { TenantLimitRepository } from './tenant-limit.repository.js';
import { TenantLimitsService } from './tenant-limits.service.js';

/** Limits that single tenants have instead of the server's. */
@Module({
  imports: [ControlDbModule],
  providers: [TenantLimitRepository, TenantLimitsService],
  exports: [TenantLimitRepository, TenantLimitsService],
})
export class TenantLimitsModule {}
