/**
 * What instances tell each other of one credential. Each time is the latest that anybody knows of, so that merging is
 * taking the later one, in any order and as often as one likes; `-Infinity` stands for never.
 */
export interface StoredProof {
  /** Whose proof: the fingerprint of the credential. */
  readonly fingerprint: string;
  /** Who is counted: the tenant as which the credential was accepted. */
  readonly tenant: string;
  /** When the upstream was last asked about the credential and accepted it. */
  readonly acceptedMs: number;
  /** When a request with it last passed the layers and authentication. */
  readonly usedMs: number;
  /** When the upstream last rejected it. */
  readonly rejectedMs: number;
}

/**
 * Whether the credential is proven as far as the upstream's word goes: accepted after it was last rejected. A mere use
 * after a rejection, as by an instance that has not heard of it yet, proves nothing.
 */
export function isAccepted({ acceptedMs, rejectedMs }: StoredProof): boolean {
  return acceptedMs > rejectedMs;
}
