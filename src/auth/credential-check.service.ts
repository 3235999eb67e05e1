import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type Config } from '../config/config.js';
import type { Identity, UpstreamSession } from '../request/credential.js';
import type { Validation } from '../tidb-cloud/outcome.js';
import { TidbCloudService } from '../tidb-cloud/tidb-cloud.service.js';
import { UserinfoService } from '../tidb-cloud/userinfo.service.js';
import { subjectTenantOf, withTenant } from './identify.js';

/** {@link Validation}, and of an accepted credential whose it is. */
export type Checked =
  Exclude<Validation, { kind: 'accepted' }> | { readonly kind: 'accepted'; readonly identity: Identity };

/**
 * Asks whether a credential is good and, where a userinfo endpoint is configured, whose an OAuth token is: both have to
 * answer. A token without a known subject is never a tenant of its own then. Decision 0020.
 */
@Injectable()
export class CredentialCheck {
  constructor(
    @Inject(CONFIG) private readonly config: Config,
    private readonly upstream: TidbCloudService,
    private readonly userinfo: UserinfoService,
  ) {}

  /** Never rejects but for a fault. */
  async check(identity: Identity, session: UpstreamSession, signal: AbortSignal): Promise<Checked> {
    const validation = await this.upstream.validate(session, signal);
    if (validation.kind !== 'accepted') return validation;
    const { oauthUserinfoUrl } = this.config;
    const { credential } = identity;
    if (credential.kind !== 'oauth' || oauthUserinfoUrl === undefined)
      return { kind: 'accepted', identity: asItself(identity) };
    const answer = await this.userinfo.subjectOf(credential.token, signal);
    if (answer?.kind !== 'known') return answer ?? { kind: 'unavailable' };
    return { kind: 'accepted', identity: withTenant(identity, subjectTenantOf(oauthUserinfoUrl, answer.subject)) };
  }
}

/** A kept proof may name the subject that the credential had while a userinfo endpoint was configured. */
function asItself(identity: Identity): Identity {
  return identity.tenant === identity.fingerprint ? identity : withTenant(identity, identity.fingerprint);
}
