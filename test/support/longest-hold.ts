/**
 * The longest that the event loop was held in one go, in milliseconds of this process's own CPU time: what other
 * processes on the machine take is no fault of the code under test.
 */
export async function longestHoldMs(work: () => Promise<unknown>): Promise<number> {
  return (await holds(work)).longestMs;
}

/**
 * The longest hold as a share of all the CPU time that the work takes: near 1 where it is done in one go, whatever the
 * machine.
 */
export async function longestShare(work: () => Promise<unknown>): Promise<number> {
  const { longestMs, wholeMs } = await holds(work);
  return longestMs / wholeMs;
}

async function holds(work: () => Promise<unknown>): Promise<{ longestMs: number; wholeMs: number }> {
  const begin = process.cpuUsage();
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
  const { user, system } = process.cpuUsage(begin);
  return { longestMs, wholeMs: (user + system) / 1_000 };
}
