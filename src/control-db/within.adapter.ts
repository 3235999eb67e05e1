import { DatabaseError } from './database-error.js';

/**
 * Waits for `work`, but no longer than `timeoutMs`. The work itself can't be stopped from here; whoever gives it up
 * cuts its connection.
 * @throws {DatabaseError} `TIMEOUT` when the time is up
 */
export async function within<T>(timeoutMs: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const expiry = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new DatabaseError('TIMEOUT', 'unknown')), timeoutMs);
  });
  work.catch(() => undefined);
  try {
    return await Promise.race([work, expiry]);
  } finally {
    clearTimeout(timer);
  }
}
