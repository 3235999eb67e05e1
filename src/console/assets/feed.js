/** Milliseconds between two looks at the server. */
const EVERY_MS = 3000;
/** Between tries while it can't be reached; twice as long each time. */
const RETRY_MOST_MS = 24_000;
/** An answer is waited for until after the last one has become old, so that this is said first. */
const GIVE_UP_MS = 10_000;
/** Data older than this is said to be old. */
const STALE_MS = 10_000;

/**
 * Keeps asking the server for the console's data while the page is seen, and says how that goes. States: `signed-out`,
 * `connecting`, `live`, `stale`, `paused`, `hidden`, `limited`, `unauthorised`, `off`, `unreachable`.
 */
export class Feed {
  #token;
  #timer;
  #asking;
  #failures = 0;
  #paused = false;
  #receivedMs;
  #state = 'signed-out';

  /**
   * @param onReport told of every report
   * @param onState told of the state, and of what the server said of it
   */
  constructor(onReport, onState) {
    this.onReport = onReport;
    this.onState = onState;
    document.addEventListener('visibilitychange', () => this.#visible());
    setInterval(() => this.#age(), 1000);
  }

  /** Milliseconds since the last report, or undefined before the first. */
  get ageMs() {
    return this.#receivedMs === undefined ? undefined : performance.now() - this.#receivedMs;
  }

  /** Begins with a token, in place of any other. */
  start(token) {
    this.#reset();
    this.#token = token;
    this.#paused = false;
    this.#say('connecting');
    void this.#ask();
  }

  /** Ends, and lets go of the token. */
  stop() {
    this.#reset();
    this.#say('signed-out');
  }

  /** Stops asking for the time being, or goes on. */
  pause(paused) {
    this.#paused = paused;
    clearTimeout(this.#timer);
    if (paused) this.#say('paused');
    else void this.#ask();
  }

  #reset() {
    clearTimeout(this.#timer);
    this.#asking?.abort();
    this.#token = undefined;
    this.#receivedMs = undefined;
    this.#failures = 0;
  }

  async #ask() {
    clearTimeout(this.#timer);
    if (this.#token === undefined || this.#paused || document.hidden) return;
    this.#asking?.abort();
    const asking = (this.#asking = new AbortController());
    const timeout = setTimeout(() => asking.abort(), GIVE_UP_MS);
    const answer = await request(this.#token, asking.signal);
    clearTimeout(timeout);
    // Whoever asked anew, paused or left meanwhile does not want this answer any more.
    if (this.#asking !== asking || this.#token === undefined || this.#paused) return;
    this.#take(answer);
  }

  #take({ state, report, text, waitMs }) {
    if (state === 'live') {
      this.#failures = 0;
      this.#receivedMs = performance.now();
      this.onReport(report);
    } else this.#failures += 1;
    if (state === 'unauthorised' || state === 'off') this.#token = undefined;
    else this.#timer = setTimeout(() => void this.#ask(), waitMs ?? this.#waitMs());
    this.#say(state, text);
  }

  #waitMs() {
    return Math.min(EVERY_MS * 2 ** Math.max(0, this.#failures - 1), RETRY_MOST_MS);
  }

  #visible() {
    if (this.#token === undefined || this.#paused) return;
    if (document.hidden) {
      clearTimeout(this.#timer);
      this.#say('hidden');
    } else void this.#ask();
  }

  #age() {
    if (this.#state === 'live' && this.ageMs > STALE_MS) this.#say('stale');
  }

  #say(state, text = '') {
    this.#state = state;
    this.onState(state, text);
  }
}

async function request(token, signal) {
  // A header can't hold such a token, and the server takes none.
  if (!/^[\x21-\x7e]+$/.test(token)) return { state: 'unauthorised' };
  try {
    const response = await fetch(new URL('data', import.meta.url), {
      headers: { authorization: `Bearer ${token}`, accept: 'application/json' },
      // Without this a browser would ask for a password in a window of its own.
      credentials: 'omit',
      cache: 'no-store',
      redirect: 'error',
      signal,
    });
    if (response.ok) return { state: 'live', report: await response.json() };
    return await failure(response);
  } catch {
    return { state: 'unreachable' };
  }
}

async function failure(response) {
  const text = await sentenceOf(response);
  if (response.status === 401) return { state: 'unauthorised', text };
  if (response.status === 404) return { state: 'off', text };
  if (response.status !== 429) return { state: 'unreachable', text };
  return { state: 'limited', text, waitMs: Math.max(1, Number(response.headers.get('retry-after'))) * 1000 };
}

/** What the server said in its own error bodies; anything else was said by whoever stands in between. */
async function sentenceOf(response) {
  try {
    const { error } = await response.json();
    return typeof error?.message === 'string' ? error.message : `HTTP ${response.status}`;
  } catch {
    return `HTTP ${response.status}`;
  }
}
