/**
 * Whether an `Accept` header asks for JSON rather than for plain text (RFC 9110, section 12.5.1): the higher weight
 * wins, and of equal ones the first named. Without a preference it is text.
 */
export function prefersJson(accept: string | undefined): boolean {
  if (accept === undefined || accept.length > 1024) return false;
  const ranges = accept.split(',').map(readRange);
  const json = ranges.find((range) => range.type === 'application/json' && range.weight > 0);
  if (json === undefined) return false;
  const text = ranges.find((range) => range.type === 'text/plain');
  if (text === undefined || text.weight < json.weight) return true;
  return text.weight === json.weight && ranges.indexOf(json) < ranges.indexOf(text);
}

function readRange(text: string): { type: string; weight: number } {
  const [type = '', ...parameters] = text.split(';').map((part) => part.trim().toLowerCase());
  const weight = parameters.find((parameter) => parameter.startsWith('q='));
  const value = weight === undefined ? 1 : Number(weight.slice(2));
  return { type, weight: Number.isFinite(value) ? value : 0 };
}
