import type { Credential } from '../request/credential.js';

/** A credential that takes more bytes than this is none. Contract: "Credentials and identity". */
const MAX_CREDENTIAL_BYTES = 8192;

const SPACE = 0x20;
/** RFC 6750's alphabet of a bearer token. */
const BEARER_TOKEN = /^[A-Za-z0-9\-._~+/]+=*$/;
/** Both halves of an API key: visible ASCII; the first colon divides them. */
const API_KEY = /^([\x21-\x39\x3b-\x7e]+):([\x21-\x7e]+)$/;
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

/** What stands in an `Authorization` header: its scheme's kind and the text after it. */
export interface Presented {
  readonly scheme: 'basic' | 'bearer';
  /** For Bearer the token as sent, for Basic the decoded text. */
  readonly text: string;
}

/**
 * Splits an `Authorization` header (RFC 9110: the scheme in any case, one space or more). Undefined where there is no
 * credential in it: another scheme, an undecodable value, or one that is too long.
 */
export function parseAuthorization(header: string): Presented | undefined {
  // By hand, since each request comes through here and a pattern would take as long as a layer.
  const space = header.indexOf(' ');
  const scheme = space === 5 || space === 6 ? header.slice(0, space).toLowerCase() : '';
  if (scheme !== 'bearer' && scheme !== 'basic') return undefined;
  let from = space + 1;
  while (header.charCodeAt(from) === SPACE) from += 1;
  const value = header.slice(from);
  if (value === '' || value.length > MAX_CREDENTIAL_BYTES) return undefined;
  if (scheme === 'bearer') return { scheme, text: value };
  if (!BASE64.test(value) || value.replace(/=+$/, '').length % 4 === 1) return undefined;
  if (value.endsWith('=') && value.length % 4 !== 0) return undefined;
  return { scheme: 'basic', text: Buffer.from(value, 'base64').toString('latin1') };
}

/**
 * The credential in what was presented: an API key however it is spelled, or an OAuth access token. Undefined where
 * it is neither, or a JWT of which there is a second spelling.
 */
export function parseCredential(presented: Presented): Credential | undefined {
  const [, publicKey, privateKey] = API_KEY.exec(presented.text) ?? [];
  if (publicKey !== undefined && privateKey !== undefined) return { kind: 'api-key', publicKey, privateKey };
  if (presented.scheme === 'basic' || !BEARER_TOKEN.test(presented.text)) return undefined;
  return isRespelledJwt(presented.text) ? undefined : { kind: 'oauth', token: presented.text };
}

/** What a fingerprint is taken over, beside the kind: one text for one credential. */
export function canonicalText(credential: Credential): string {
  return credential.kind === 'api-key' ? `${credential.publicKey}:${credential.privateKey}` : credential.token;
}

/**
 * Whether the token is a JWT with a part in non-canonical base64url: the last character's unused bits can be set in any
 * way without changing what a verifier reads, so each spelling would be a credential of its own.
 */
function isRespelledJwt(token: string): boolean {
  const parts = token.split('.');
  if (parts.length !== 3 || !isJsonObject(parts[0]!)) return false;
  return parts.some((part) => Buffer.from(part, 'base64url').toString('base64url') !== part);
}

function isJsonObject(part: string): boolean {
  try {
    const value: unknown = JSON.parse(Buffer.from(part, 'base64url').toString('utf8'));
    return typeof value === 'object' && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}
