/** Milliseconds of one UTC day. */
export const DAY_MS = 86_400_000;

/** The UTC day of an instant: whole days since the Unix epoch. */
export function utcDayOf(utcMs: number): number {
  return Math.floor(utcMs / DAY_MS);
}

/** The instant at which `utcDay` ends and its quota is over. */
export function utcDayEndMs(utcDay: number): number {
  return (utcDay + 1) * DAY_MS;
}

/**
 * Whole seconds, at least 1, after which the day of this instant is over: `Retry-After` of a quota refusal. Spec:
 * "What you get when you hit one".
 */
export function secondsToReset(utcMs: number): number {
  return Math.max(1, Math.ceil((utcDayEndMs(utcDayOf(utcMs)) - utcMs) / 1_000));
}

/** The day as the database has it, `YYYY-MM-DD`. */
export function utcDayText(utcDay: number): string {
  return new Date(utcDay * DAY_MS).toISOString().slice(0, 10);
}
