/**
 * The longest that the event loop was held in one go, in milliseconds of this process's own CPU time: what other
 * processes on the machine take is no fault of the code under test.
 */
export async function longestHoldMs(work: () => Promise<unknown>): Promise<number> {
  let longestMs = 0;
  let running = true;
  let before = process.cpuUsage();
  const probe = () => {
    const { user, system } = process.cpuUsage(before);
    longestMs = Math.max(longestMs, (user + system) / 1_000);
    before = process.cpuUsage();
    if (running) setImmediate(probe);
  };
  setImmediate(probe);
  await work();
  running = false;
  return longestMs;
}
