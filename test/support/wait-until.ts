/**
 * Waits until `condition` holds, looking every few milliseconds; fails after `timeoutMs` and says what it waited for.
 */
export async function waitUntil(
  what: string,
  condition: () => boolean | Promise<boolean>,
  timeoutMs = 10_000,
): Promise<void> {
  const giveUpAtMs = performance.now() + timeoutMs;
  while (!(await condition())) {
    if (performance.now() > giveUpAtMs) throw new Error(`waited ${timeoutMs} ms in vain: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
