import type { UpstreamSession } from '../request/credential.js';
import type { DigestNonce } from './digest.js';
import type { NonceKeeper } from './exchange.js';
import { KeyMinute } from './key-minute.js';
import type { Outcome } from './outcome.js';
import type { UpstreamHost } from './upstream-request.js';

/** The nonce that one credential uses at one host. */
export class HostState implements NonceKeeper {
  nonce: DigestNonce | undefined;

  /** Takes over what an answered exchange showed; `nonce` is the one it was signed with. */
  learn(outcome: Outcome<unknown>, nonce: DigestNonce | undefined): void {
    // Kept of accepted credentials only: 429, 5xx and strangers' answers show nothing.
    if (nonce !== undefined && outcome.kind !== 'rate-limited' && outcome.kind !== 'unavailable') this.nonce = nonce;
  }
}

/** What is known of one credential: a nonce for each host, and what is left of its minute over all hosts. */
export interface SessionState {
  readonly hosts: Readonly<Record<UpstreamHost, HostState>>;
  readonly minute: KeyMinute;
}

/**
 * The state of every live session: per whole credential, never per public key, and gone with the session, which is what
 * bounds it. Contract: "Credentials and identity".
 */
export class SessionStates {
  private readonly states = new WeakMap<UpstreamSession, SessionState>();

  of(session: UpstreamSession): SessionState {
    let state = this.states.get(session);
    if (state === undefined) {
      state = { hosts: { serverless: new HostState(), iam: new HostState() }, minute: new KeyMinute() };
      this.states.set(session, state);
    }
    return state;
  }
}
