const whole = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });
const small = new Intl.NumberFormat('en', { maximumFractionDigits: 2 });
const large = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 });
const share = new Intl.NumberFormat('en', { style: 'percent', maximumFractionDigits: 0 });

/** A count, with separators. */
export const count = (value) => whole.format(value);

/** A number a second, as short as it can be read. */
export function rate(value) {
  if (value >= 10_000) return large.format(value);
  return value >= 100 ? whole.format(value) : small.format(value);
}

/** A share of one, never rounded up to all of it. */
export const percent = (value) => share.format(value < 1 ? Math.min(value, 0.99) : value);

/** Counted things: `1 instance`, `2 instances`. */
export const many = (value, thing) => `${count(value)} ${thing}${value === 1 ? '' : 's'}`;

/** A stretch of time in its two largest units. */
export function duration(seconds) {
  if (seconds < 1) return `${whole.format(seconds * 1000)} ms`;
  if (seconds < 60) return `${small.format(seconds < 10 ? seconds : Math.round(seconds))} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min${rest(Math.floor(seconds % 60), 's')}`;
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return `${hours} h${rest(minutes % 60, 'min')}`;
  return `${count(Math.floor(hours / 24))} days`;
}

/** How long ago something was, in whole seconds. */
export const ago = (seconds) => (seconds < 1 ? 'just now' : `${duration(Math.round(seconds))} ago`);

function rest(value, unit) {
  return value === 0 ? '' : ` ${value} ${unit}`;
}
