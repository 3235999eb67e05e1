import type { Credential } from '../request/credential.js';
import { parseChallenges } from './challenge.js';
import { DigestNonce, saysStale, selectDigest, type RequestLine } from './digest.js';
import type { UnavailableReason } from './outcome.js';
import type { ResponseHeaders } from './rate-limit-wait.js';

/** One complete answer over HTTP. */
export interface HttpAnswer {
  readonly status: number;
  readonly headers: ResponseHeaders;
  /** Undefined where it was too large or broke off. */
  readonly body: Uint8Array | undefined;
}

/** One request that got no answer. */
export interface HttpFailure {
  readonly failed: Extract<UnavailableReason, 'timeout' | 'connection' | 'aborted'>;
  /** Whether any of it may have left this process. */
  readonly written: boolean;
  /** The connection's own code, such as `ECONNREFUSED`, where there is one, or `ALL_CONNECTIONS_TAKEN`. */
  readonly code?: string | undefined;
}

/**
 * Sends the exchange's request once, with this `Authorization`, or without: then it is a probe for the challenge and
 * carries no body. Never rejects.
 */
export type Send = (authorization: string | undefined) => Promise<HttpAnswer | HttpFailure>;

/** What a request's answer says about the credential, by how it was signed. */
export type Proof =
  /** The request carried no credential. */
  | 'none'
  /** Signed with a nonce of an earlier exchange: a 401 is a challenge. */
  | 'kept'
  /** Signed with a nonce of this very exchange: a 401 without `stale=true` is a rejection. */
  | 'fresh'
  /** An OAuth token: a 401 is a rejection. */
  | 'bearer';

/** How an exchange ended. */
export type Exchanged =
  | {
      readonly kind: 'answered';
      readonly answer: HttpAnswer;
      readonly proof: Proof;
      /** The nonce that the answered request was signed with, to be kept if the answer shows an accepted credential. */
      readonly nonce: DigestNonce | undefined;
    }
  | { readonly kind: 'rejected' }
  /** A 401 that cannot be answered and is no rejection either. */
  | { readonly kind: 'unanswerable' }
  | { readonly kind: 'failed'; readonly failure: HttpFailure; readonly proof: Proof };

/** The nonce that one credential keeps at one host between exchanges. */
export interface NonceKeeper {
  nonce: DigestNonce | undefined;
}

/** One unsigned or with a kept nonce, and two with nonces of this exchange. Contract: "Credentials and identity". */
const MAX_DIGEST_REQUESTS = 3;

/** What {@link runExchange} works with. */
export interface ExchangeParts {
  readonly credential: Credential;
  readonly keeper: NonceKeeper;
  readonly request: RequestLine;
  readonly send: Send;
  readonly newCnonce: () => string;
}

/**
 * Authenticates one request and sees it through: at most three requests with Digest, one with a bearer token. Only a
 * request that was answered 401 is sent again, and that one was not carried out. Contract: "Credentials and identity".
 */
export async function runExchange(parts: ExchangeParts): Promise<Exchanged> {
  const { credential, send } = parts;
  if (credential.kind === 'api-key') return runDigest(parts, credential.publicKey, credential.privateKey);
  const result = await send(`Bearer ${credential.token}`);
  if ('failed' in result) return { kind: 'failed', failure: result, proof: 'bearer' };
  if (result.status === 401) return { kind: 'rejected' };
  return { kind: 'answered', answer: result, proof: 'bearer', nonce: undefined };
}

async function runDigest(parts: ExchangeParts, username: string, password: string): Promise<Exchanged> {
  const { keeper, request, send } = parts;
  if (keeper.nonce?.exhausted === true) keeper.nonce = undefined;
  let nonce = keeper.nonce;
  let proof: Proof = nonce === undefined ? 'none' : 'kept';
  for (let requests = 1; ; requests += 1) {
    const result = await send(nonce?.sign(username, password, request));
    if ('failed' in result) return { kind: 'failed', failure: result, proof };
    if (result.status !== 401) return { kind: 'answered', answer: result, proof, nonce };
    // Another exchange may have put a newer nonce there in the meantime, which is none of this one's business.
    if (keeper.nonce === nonce) keeper.nonce = undefined;
    const challenges = parseChallenges(result.headers['www-authenticate']);
    if (proof === 'fresh' && !saysStale(challenges)) return { kind: 'rejected' };
    const challenge = selectDigest(challenges);
    if (challenge === undefined || requests === MAX_DIGEST_REQUESTS) return { kind: 'unanswerable' };
    nonce = new DigestNonce(challenge, parts.newCnonce);
    proof = 'fresh';
  }
}
