/**
 * The `Authorization` header of a request; undefined where there is none or where it came twice, which counts as none:
 * Node's other forms keep the first and hide the second, which could be another caller's.
 * @param rawHeaders names and values in turn, as Node has them
 */
export function soleAuthorization(rawHeaders: readonly string[]): string | undefined {
  let found: string | undefined;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]!;
    // The length tells most names apart without writing them anew.
    if (name.length !== 13 || name.toLowerCase() !== 'authorization') continue;
    if (found !== undefined) return undefined;
    found = rawHeaders[index + 1];
  }
  return found;
}
