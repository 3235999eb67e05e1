/**
 * Moments of the wall clock as ISO 8601 with milliseconds, in UTC, like `Date.toISOString()`: the text of a second is
 * kept while it lasts, since writing it costs more than everything else in an event.
 */
export class IsoStamp {
  private second = Number.NaN;
  /** Up to and with the dot before the milliseconds. */
  private head = '';

  /** @throws RangeError for a moment that a date can't hold */
  text(utcMs: number): string {
    const whole = Math.floor(utcMs);
    const second = Math.floor(whole / 1000);
    if (second !== this.second) {
      this.head = new Date(second * 1000).toISOString().slice(0, -4);
      this.second = second;
    }
    return `${this.head}${String(whole - second * 1000).padStart(3, '0')}Z`;
  }
}
