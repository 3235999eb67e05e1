/**
 * A 64-bit column's value: drivers answer text, number or bigint. Counts and milliseconds stay far below 2^53.
 */
export function wholeNumber(value: unknown): number {
  const number = Number(value);
  if (!Number.isSafeInteger(number)) throw new Error('A whole number was expected from the control database.');
  return number;
}
