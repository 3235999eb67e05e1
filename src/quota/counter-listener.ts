/** What the counter tells whoever talks to the database; called in the middle of counting, so it only takes a note. */
export interface CounterListener {
  /** The wall clock shows a day whose totals may have changed unseen. */
  dayOpened(utcDay: number): void;
  /** A tenant's row was opened although the database may have a total that memory lacks. */
  rowLacking(tenant: string): void;
  /** A tenant near the edge has unsent calls that the other instances should know of. */
  earlyWanted(): void;
}

/** Whoever listens before somebody does. */
export const NOBODY: CounterListener = {
  dayOpened: () => undefined,
  rowLacking: () => undefined,
  earlyWanted: () => undefined,
};
