import { createHash } from 'node:crypto';
import type { Challenge } from './challenge.js';

/** A Digest algorithm that this client speaks; a `-sess` one hashes the first cnonce into the key. */
export interface DigestAlgorithm {
  readonly hash: 'md5' | 'sha256';
  readonly session: boolean;
  /** As the challenge spelled it, to be echoed; undefined where it named none (RFC 2617: MD5). */
  readonly text: string | undefined;
}

/** What a server's challenge asks for, ready to be answered. */
export interface DigestChallenge {
  readonly realm: string;
  readonly nonce: string;
  readonly opaque: string | undefined;
  readonly algorithm: DigestAlgorithm;
  /** `auth`, or undefined for a server of RFC 2069's time that names none. */
  readonly qop: 'auth' | undefined;
}

/** The request that is signed: method and request-target exactly as they go over the wire. */
export interface RequestLine {
  readonly method: string;
  readonly uri: string;
}

const MAX_VALUE_LENGTH = 2048;
/** The largest nonce count that its eight hex digits can say. */
const MAX_NONCE_COUNT = 0xffff_ffff;

/** The stronger hash first, a plain algorithm before its session variant. */
const PREFERENCE = ['sha-256', 'sha-256-sess', 'md5', 'md5-sess'];

/**
 * The challenge to answer: the strongest Digest one that can be answered, or undefined where there is none. SHA-256 goes
 * before MD5, `qop=auth` before none. RFC 7616, section 3.7.
 */
export function selectDigest(challenges: readonly Challenge[]): DigestChallenge | undefined {
  let best: DigestChallenge | undefined;
  for (const challenge of challenges) {
    const candidate = toDigest(challenge);
    if (candidate !== undefined && (best === undefined || rank(candidate) < rank(best))) best = candidate;
  }
  return best;
}

/** Whether the server says that only the nonce was too old, not the credential wrong. RFC 7616, section 3.3. */
export function saysStale(challenges: readonly Challenge[]): boolean {
  return challenges.some(
    (challenge) => challenge.scheme === 'digest' && challenge.params.get('stale')?.toLowerCase() === 'true',
  );
}

function rank(challenge: DigestChallenge): number {
  const { hash, session } = challenge.algorithm;
  const name = `${hash === 'sha256' ? 'sha-256' : 'md5'}${session ? '-sess' : ''}`;
  return PREFERENCE.indexOf(name) * 2 + (challenge.qop === undefined ? 1 : 0);
}

function toDigest({ scheme, params }: Challenge): DigestChallenge | undefined {
  const realm = params.get('realm');
  const nonce = params.get('nonce');
  const opaque = params.get('opaque');
  if (scheme !== 'digest' || realm === undefined || nonce === undefined || nonce === '') return undefined;
  if ([realm, nonce, opaque ?? ''].some((value) => value.length > MAX_VALUE_LENGTH)) return undefined;
  const algorithm = toAlgorithm(params.get('algorithm'));
  if (algorithm === undefined) return undefined;
  const offered = params.get('qop');
  if (offered === undefined) {
    // Without qop there is no cnonce, so a session key can't be made; SHA-256 has always had qop.
    return algorithm.session || algorithm.hash !== 'md5'
      ? undefined
      : { realm, nonce, opaque, algorithm, qop: undefined };
  }
  const auth = offered.split(',').some((option) => option.trim().toLowerCase() === 'auth');
  return auth ? { realm, nonce, opaque, algorithm, qop: 'auth' } : undefined;
}

function toAlgorithm(text: string | undefined): DigestAlgorithm | undefined {
  const name = (text ?? 'md5').toLowerCase();
  if (!PREFERENCE.includes(name)) return undefined;
  return { hash: name.startsWith('sha-256') ? 'sha256' : 'md5', session: name.endsWith('-sess'), text };
}

/**
 * One nonce in use: counts its requests, so that no two carry the same `nc`. Requests may run side by side; each takes
 * its count when it is signed.
 */
export class DigestNonce {
  private count = 0;
  private sessionCnonce: string | undefined;

  /** @param newCnonce makes a client nonce: unpredictable, printable ASCII without quotes or backslashes */
  constructor(
    readonly challenge: DigestChallenge,
    private readonly newCnonce: () => string,
  ) {}

  /** Whether eight hex digits can count no further request. */
  get exhausted(): boolean {
    return this.count >= MAX_NONCE_COUNT;
  }

  /** The `Authorization` value of the next request under this nonce. RFC 7616, section 3.4; RFC 2617, section 3.2.2. */
  sign(username: string, password: string, request: RequestLine): string {
    this.count += 1;
    const { algorithm } = this.challenge;
    let cnonce = this.sessionCnonce;
    if (cnonce === undefined) {
      cnonce = this.newCnonce();
      // The session key holds the cnonce of the first request, so that one stays for the nonce's life.
      if (algorithm.session) this.sessionCnonce = cnonce;
    }
    return authorization({ username, password, challenge: this.challenge, request, cnonce, count: this.count });
  }
}

interface Signature {
  username: string;
  password: string;
  challenge: DigestChallenge;
  request: RequestLine;
  cnonce: string;
  count: number;
}

function authorization({ username, password, challenge, request, cnonce, count }: Signature): string {
  const { realm, nonce, opaque, algorithm, qop } = challenge;
  // Headers arrive as Latin-1 text: taking the realm's bytes back makes a UTF-8 realm hash as the server hashes it.
  const hash = (...parts: readonly (string | Buffer)[]): string => {
    const digest = createHash(algorithm.hash);
    parts.forEach((part, index) => digest.update(index === 0 ? '' : ':').update(part));
    return digest.digest('hex');
  };
  const nonceBytes = Buffer.from(nonce, 'latin1');
  const nc = count.toString(16).padStart(8, '0');
  const plainKey = hash(username, Buffer.from(realm, 'latin1'), password);
  const key = algorithm.session ? hash(plainKey, nonceBytes, cnonce) : plainKey;
  const target = hash(request.method, request.uri);
  const response = qop === undefined ? hash(key, nonceBytes, target) : hash(key, nonceBytes, nc, cnonce, qop, target);
  const params = [
    usernameParam(username),
    `realm=${quote(realm)}`,
    `nonce=${quote(nonce)}`,
    `uri=${quote(request.uri)}`,
    `response="${response}"`,
    ...(algorithm.text === undefined ? [] : [`algorithm=${algorithm.text}`]),
    ...(opaque === undefined ? [] : [`opaque=${quote(opaque)}`]),
    ...(qop === undefined ? [] : [`qop=${qop}`, `nc=${nc}`, `cnonce="${cnonce}"`]),
  ];
  return `Digest ${params.join(', ')}`;
}

/** A name outside printable ASCII goes as `username*`, so that no caller's bytes can break the header. RFC 7616, 3.4. */
function usernameParam(username: string): string {
  if (/^[\x20-\x7e]*$/.test(username)) return `username=${quote(username)}`;
  const bytes = [...Buffer.from(username, 'utf8')];
  const encoded = bytes.map((byte) => {
    const char = String.fromCharCode(byte);
    return /[A-Za-z0-9!#$&+\-.^_`|~]/.test(char) ? char : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
  });
  return `username*=UTF-8''${encoded.join('')}`;
}

function quote(value: string): string {
  return `"${value.replaceAll(/["\\]/g, '\\$&')}"`;
}
