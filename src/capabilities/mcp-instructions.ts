const LIMITS = `Limits. Each credential may make a few calls per second, with short bursts, and a fixed number of calls per UTC day. Every request to this server counts, listing tools included. tidb_capabilities says which numbers are in force and how much of the day is left: call it before a job of many calls.

When a call is refused with HTTP 429:
- data.limit "tenant", "global" or "preauth": a short pause. Wait retryAfterSeconds, then repeat the same call; it works.
- data.limit "quota": the day's calls are used up. No wait within the same UTC day clears it. Stop retrying with this key and report the exhausted quota.
- A tool error with limit "upstream" is TiDB Cloud's own limit for this key: wait retryAfterSeconds, then repeat.

Prefer few calls: ask lists with a larger pageSize (up to 100) and a filter instead of one item at a time, and do not poll faster than every few seconds. HTTP 401 means that TiDB Cloud rejects the credential: stop and ask for another one.`;

const NO_LIMITS = `It has no limits of its own. TiDB Cloud allows about 100 requests a minute for each key: a tool error with limit "upstream" means to wait retryAfterSeconds and then to repeat the same call.`;

const CHANGES = `Changes take two steps. tidb_preflight({ operation, arguments }) changes nothing: it says what would happen and answers a confirmationToken. Show its summary to the user; only when the user agrees, call tidb_confirm({ confirmationToken }). It performs exactly what was shown, once. Outcome "unknown" means that it may have been carried out: look with result.lookWith, never just try again. CONFIRM_USED tells the earlier outcome; CONFIRM_EXPIRED and CONFIRM_TARGET_CHANGED need a new preflight, which the user has to see again.`;

const LISTS = `Lists answer items and, while there is more, nextPageToken: pass it as pageToken with all other arguments unchanged.`;

function what(readOnly: boolean, whose: string): string {
  const does = readOnly ? 'reads' : 'reads and changes';
  return `This server ${does} TiDB Cloud: projects, regions, clusters, branches and backups of the account that ${whose} belongs to.`;
}

/** What an agent is told once, when it connects over HTTP: how limits behave here and what to do when refused. */
export function httpInstructions(readOnly: boolean): string {
  return [what(readOnly, 'your credential'), LIMITS, ...(readOnly ? [] : [CHANGES]), LISTS].join('\n\n');
}

/** The same for the local server, which has no limits of its own. */
export function stdioInstructions(readOnly: boolean): string {
  return [what(readOnly, 'its key'), NO_LIMITS, ...(readOnly ? [] : [CHANGES]), LISTS].join('\n\n');
}
