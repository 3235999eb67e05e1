import type { UpstreamSession } from '../request/credential.js';
import type { DigestNonce } from './digest.js';
import type { NonceKeeper } from './exchange.js';
import type { Outcome } from './outcome.js';
import type { UpstreamHost } from './upstream-request.js';

/** What is known of one credential at one host: the nonce in use, and until when TiDB Cloud's own limit lasts. */
export class HostState implements NonceKeeper {
  nonce: DigestNonce | undefined;
  private limitedUntilMs = 0;

  /** Whole seconds, at least 1, that TiDB Cloud's own limit still lasts; undefined where none is known. */
  limitedForSeconds(monotonicMs: number): number | undefined {
    const leftMs = this.limitedUntilMs - monotonicMs;
    return leftMs > 0 ? Math.ceil(leftMs / 1000) : undefined;
  }

  /** Takes over what an answered exchange showed; `nonce` is the one it was signed with. */
  learn(outcome: Outcome<unknown>, nonce: DigestNonce | undefined, monotonicMs: number): void {
    if (outcome.kind === 'rate-limited') this.limitedUntilMs = monotonicMs + outcome.retryAfterSeconds * 1000;
    // Kept of accepted credentials only: 429, 5xx and strangers' answers show nothing.
    if (nonce !== undefined && outcome.kind !== 'rate-limited' && outcome.kind !== 'unavailable') this.nonce = nonce;
  }
}

/**
 * The state of every live session: per whole credential and host, and gone with the session, which is what bounds it.
 * Contract: "Credentials and identity".
 */
export class SessionStates {
  private readonly states = new WeakMap<UpstreamSession, Record<UpstreamHost, HostState>>();

  of(session: UpstreamSession, host: UpstreamHost): HostState {
    let hosts = this.states.get(session);
    if (hosts === undefined) {
      hosts = { serverless: new HostState(), iam: new HostState() };
      this.states.set(session, hosts);
    }
    return hosts[host];
  }
}
