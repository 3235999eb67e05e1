/**
 * How long to wait before the next try: doubling from `firstMs` to `longestMs`, of which a random quarter is taken off
 * so that instances which failed together don't return together.
 * @param attempt failures so far, 0 for the first
 * @param random from 0 up to but not including 1
 */
export function backoffMs(attempt: number, firstMs: number, longestMs: number, random: number): number {
  const full = Math.min(longestMs, firstMs * 2 ** Math.min(attempt, 30));
  return Math.ceil(full * (1 - random / 4));
}
