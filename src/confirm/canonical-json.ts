/**
 * JSON in which the order of members says nothing: two values are equal if and only if their texts are. Members that
 * are undefined count as missing. For JSON values only.
 */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, entry: unknown) => {
    if (typeof entry !== 'object' || entry === null || Array.isArray(entry)) return entry;
    const members = Object.entries(entry).sort(([a], [b]) => (a < b ? -1 : 1));
    return Object.fromEntries(members);
  });
}
