import { Module } from '@nestjs/common';
import { ControlDbModule } from '../control-db/control-db.module.js';
import { QuotaModule } from '../quota/quota.module.js';
import { ProofStoreService } from './proof-store.service.js';
import { ProofRepository } from './proof.repository.js';

/** Proofs that outlive a deploy, in the control database. */
@Module({
  imports: [ControlDbModule, QuotaModule],
  providers: [ProofRepository, ProofStoreService],
  exports: [ProofStoreService],
})
export class ProofStoreModule {}
