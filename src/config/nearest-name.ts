/** Names longer than this are compared by their beginnings: the work per name stays bounded. */
const LONGEST_COMPARED = 128;

/** The one of `candidates` (at least one) that takes the fewest edits to become `name`; the first of equals. */
export function nearestName(name: string, candidates: readonly string[]): string {
  let nearest = '';
  let fewest = Number.POSITIVE_INFINITY;
  for (const candidate of candidates) {
    const edits = editDistance(name.slice(0, LONGEST_COMPARED), candidate);
    if (edits >= fewest) continue;
    nearest = candidate;
    fewest = edits;
  }
  return nearest;
}

/** Levenshtein's distance: how many insertions, deletions and replacements of one character turn one into the other. */
export function editDistance(from: string, to: string): number {
  let above = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let row = 1; row <= from.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= to.length; column += 1) {
      const replaced = (above[column - 1] ?? 0) + (from[row - 1] === to[column - 1] ? 0 : 1);
      current.push(Math.min(replaced, (above[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1));
    }
    above = current;
  }
  return above[to.length] ?? 0;
}
