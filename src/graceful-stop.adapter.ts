/** Requests under way get this long once the listener is closed. Contract: `TIDB_MCP_SHUTDOWN_GRACE_SECONDS`. */
export const DRAIN_MS = 20_000;

/** Whoever waits is told this often what for. */
const TELL_EVERY_MS = 5_000;
/** Connections whose last request has ended are looked for this often: a stop takes no longer than its requests. */
const LOOK_EVERY_MS = 250;

/** Told, as a sentence, what is waited for. */
export type Say = (sentence: string) => void;

/** What a server that is to stop can be told and asked, in the order in which it is. */
export interface Stoppable {
  /** Readiness is 503 from now on; calls are still served. */
  announce(): void;
  /** New requests are told from now on that this instance goes away. */
  refuse(): void;
  /** Closes the listener; resolves when running requests have ended and the last counts are stored. */
  close(): Promise<void>;
  /** Closes the idle connections; answers how many are left. */
  connections(): Promise<number>;
  /** Cuts whatever still runs. */
  cut(): void;
}

/**
 * Stops as the contract says: the grace, which ending `hurry` cuts short, then running requests and the last flush. Says
 * what it waits for while it does.
 */
export async function stopGracefully(server: Stoppable, graceMs: number, say: Say, hurry?: AbortSignal): Promise<void> {
  server.announce();
  await grace(graceMs, say, hurry);
  server.refuse();
  const closing = new AbortController();
  const waiting = tellWhoIsWaitedFor(server, say, closing.signal);
  try {
    await server.close();
  } finally {
    closing.abort();
    await waiting;
  }
}

async function grace(graceMs: number, say: Say, hurry?: AbortSignal): Promise<void> {
  for (let leftMs = graceMs; leftMs > 0; leftMs -= TELL_EVERY_MS) {
    if (hurry?.aborted === true) return;
    say(`Serving on for ${Math.ceil(leftMs / 1_000)} s, so that load balancers see that readiness is gone.`);
    await pauseFor(Math.min(leftMs, TELL_EVERY_MS), hurry);
  }
}

async function tellWhoIsWaitedFor(server: Stoppable, say: Say, closed: AbortSignal): Promise<void> {
  for (let leftMs = DRAIN_MS - LOOK_EVERY_MS; leftMs >= 0; leftMs -= LOOK_EVERY_MS) {
    await pauseFor(LOOK_EVERY_MS, closed);
    if (closed.aborted) return;
    const count = await server.connections();
    if (count === 0 || leftMs % TELL_EVERY_MS !== 0) continue;
    const connections = count === 1 ? '1 open connection' : `${count} open connections`;
    if (leftMs > 0) say(`Waiting for ${connections} and their requests, for ${leftMs / 1_000} s more.`);
    else say(`Cutting ${connections}: ${DRAIN_MS / 1_000} s are over.`);
  }
  server.cut();
}

/** Ends early, and without an error, when `signal` does. */
function pauseFor(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal?.addEventListener('abort', end);
    if (signal?.aborted === true) end();
  });
}
