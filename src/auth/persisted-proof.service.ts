import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type Config } from '../config/config.js';
import { ProofStoreService } from '../proof-store/proof-store.service.js';
import { ProofService } from './proof.service.js';

/** Has the proofs kept in the control database where `TIDB_MCP_PERSIST_PROOF` says so. Decision 0019. */
@Injectable()
export class PersistedProofService {
  constructor(@Inject(CONFIG) config: Config, proof: ProofService, store: ProofStoreService) {
    if (config.persistProof) store.attach(proof.share(config.provenMax));
  }
}
