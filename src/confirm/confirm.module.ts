import { Module } from '@nestjs/common';
import { ControlDbModule } from '../control-db/control-db.module.js';
import { ObservabilityModule } from '../observability/observability.module.js';
import { ConfirmLedgerService } from './confirm-ledger.service.js';
import { ConfirmRetentionService } from './confirm-retention.service.js';
import { ConfirmService } from './confirm.service.js';
import { NonceLedger } from './nonce-ledger.repository.js';
import { SettlementService } from './settlement.service.js';

/** Preflight, confirm and their ledger. Whoever starts the application opens the control database. */
@Module({
  imports: [ControlDbModule, ObservabilityModule],
  providers: [NonceLedger, SettlementService, ConfirmLedgerService, ConfirmRetentionService, ConfirmService],
  exports: [ConfirmService],
})
export class ConfirmModule {}
