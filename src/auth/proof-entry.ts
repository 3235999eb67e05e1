import type { HeldContext } from './held-context.js';
import type { BucketOwner } from './tenant-buckets.js';
import type { Used } from './use-order.js';

/** One proven credential as the set of them holds it. */
export interface ProofEntry extends Used<ProofEntry> {
  owner: BucketOwner;
  /** When anybody last had it accepted, and in `lastUsedMs` when anybody last used it. */
  acceptedMs: number;
  held: HeldContext | undefined;
  /** It was taken out of the set: whoever remembers it has to look for another. */
  isGone: boolean;
}

/** An entry that is not in the order of use yet. */
export function proofEntry(
  owner: BucketOwner,
  acceptedMs: number,
  lastUsedMs: number,
  held: HeldContext | undefined,
): ProofEntry {
  return { owner, acceptedMs, held, isGone: false, lastUsedMs, older: undefined, newer: undefined };
}
