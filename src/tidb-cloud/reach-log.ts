import type { Exchanged } from './exchange.js';
import type { Outcome } from './outcome.js';

const LOG_INTERVAL_MS = 60_000;

/** What fails because this server stops says nothing of the host. */
const STOPPING: ReadonlySet<string> = new Set(['UND_ERR_DESTROYED', 'UND_ERR_CLOSED']);

const ODD_FOR_VALIDATION: ReadonlySet<string> = new Set(['not-found', 'invalid', 'conflict']);

/** Where a {@link ReachLog} writes. */
export interface ReachLines {
  warn(line: string): void;
  log(line: string): void;
}

/**
 * Says of one host of TiDB Cloud that it gives no answer that counts, at most once a minute however many exchanges fail,
 * and once that it does again. A line holds the host and the reason, and nothing of a request or of an answer's body.
 */
export class ReachLog {
  private warnedAtMs = Number.NEGATIVE_INFINITY;
  private warned = false;

  constructor(
    private readonly host: string,
    private readonly lines: ReachLines,
  ) {}

  /**
   * Notes how an exchange ended; one whose caller went away says nothing.
   * @param validates whether it asked for what every key may have: not to find that means to look in the wrong place
   */
  note(outcome: Outcome<unknown>, exchanged: Exchanged, nowMs: number, validates = false): void {
    if (outcome.kind === 'unavailable') {
      if (outcome.reason !== 'aborted') this.failed(reasonOf(exchanged, outcome.reason), nowMs);
    } else if (validates && ODD_FOR_VALIDATION.has(outcome.kind)) this.failed(reasonOf(exchanged, outcome.kind), nowMs);
    else this.reached();
  }

  private failed(reason: string, nowMs: number): void {
    if (STOPPING.has(reason)) return;
    if (nowMs - this.warnedAtMs < LOG_INTERVAL_MS) return;
    this.warnedAtMs = nowMs;
    this.warned = true;
    this.lines.warn(
      `${this.host} gives no answer that counts (${reason}): callers who need it get 503 meanwhile. ` +
        'If this lasts, check its address in the configuration, DNS, and the way out.',
    );
  }

  private reached(): void {
    if (!this.warned) return;
    this.warned = false;
    this.lines.log(`${this.host} answers again.`);
  }
}

/** Why there was no answer that counts: the connection's code, a status, or what is wrong with the body. */
function reasonOf(exchanged: Exchanged, reason: string): string {
  switch (exchanged.kind) {
    case 'failed':
      return exchanged.failure.code ?? reason;
    case 'answered':
      return reason === 'body' ? 'unreadable body' : `HTTP ${exchanged.answer.status}`;
    default:
      return 'HTTP 401 without a challenge that can be answered';
  }
}
