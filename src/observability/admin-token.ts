import { createHash, timingSafeEqual } from 'node:crypto';

/** Longer headers are no token of ours, and hashing them would be work for nothing. */
const LONGEST_HEADER = 8192;

/**
 * Whether an `Authorization` header brings the admin token as a bearer: the scheme in any case, one space or more after
 * it (RFC 9110, section 11.1). The comparison takes the same time wherever the two differ.
 */
export function isAdmin(header: string | undefined, token: string): boolean {
  if (header === undefined || header.length > LONGEST_HEADER) return false;
  const presented = /^bearer +([^ ]+) *$/i.exec(header)?.[1];
  return presented !== undefined && timingSafeEqual(digest(presented), digest(token));
}

/** Digests have one length, so the comparison doesn't tell the token's. */
function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
