/**
 * Where the stores found an accepted credential's state last, kept with its identity, so that whoever calls often costs
 * them no search. A bookmark is a guess: state moves and leaves without a word to whoever remembers it, so each store
 * reads its own bookmark alone, and looks whether what stands there is what it looks for. Decision 0027.
 */
export class Bookmarks {
  /** The tenant's bucket: its slot in the tenant layer's store. */
  slot = 0;
  /** The tenant's row of a day; the quota's counter knows its type. */
  row: unknown = undefined;
  /** The credential's proof; the proven credentials know its type. */
  proof: unknown = undefined;
}
