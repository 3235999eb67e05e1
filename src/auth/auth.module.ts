import { Module } from '@nestjs/common';
import { ObservabilityModule } from '../observability/observability.module.js';
import { ProofStoreModule } from '../proof-store/proof-store.module.js';
import { QuotaModule } from '../quota/quota.module.js';
import { TenantLimitsModule } from '../tenant-limits/tenant-limits.module.js';
import { TidbCloudModule } from '../tidb-cloud/tidb-cloud.module.js';
import { AuthGuard } from './auth.guard.js';
import { AuthService } from './auth.service.js';
import { CredentialCheck } from './credential-check.service.js';
import { PersistedProofService } from './persisted-proof.service.js';
import { ProofService } from './proof.service.js';

/** From a credential to an identity, and from an identity to a proven tenant. */
@Module({
  imports: [ObservabilityModule, ProofStoreModule, QuotaModule, TenantLimitsModule, TidbCloudModule],
  providers: [ProofService, PersistedProofService, CredentialCheck, AuthService, AuthGuard],
  exports: [ProofService, AuthService, AuthGuard],
})
export class AuthModule {}
