import { AppError } from '../errors/app-error.js';

/**
 * Holds a moment of something's past against its life.
 * @param path of the argument that names the moment
 * @throws AppError INVALID_ARGUMENT for a moment before its creation or in the future
 */
export function checkMoment(
  path: string,
  moment: string | undefined,
  createTime: string | undefined,
  utcMs: number,
): void {
  if (moment === undefined) return;
  const atMs = Date.parse(moment);
  const bornMs = createTime === undefined ? Number.NaN : Date.parse(createTime);
  let message = '';
  if (atMs > utcMs) message = 'lies in the future';
  else if (atMs < bornMs) message = `lies before its creation at ${createTime}`;
  if (message === '') return;
  throw new AppError('INVALID_ARGUMENT', `Invalid arguments: arguments.${path}: ${message}.`, {
    errors: [{ path: `arguments.${path}`, message }],
  });
}
