/** How a promise has ended so far: with its value or with its error's code; `end` is undefined until then. */
export function watch(work: Promise<unknown>): { end?: unknown } {
  const seen: { end?: unknown } = {};
  work.then(
    (value) => (seen.end = value),
    (error: { code: string }) => (seen.end = error.code),
  );
  return seen;
}
