import { QueryFailedError } from 'typeorm';
import { describe, expect, it } from 'vitest';
import { DatabaseError, errorCode, isBusy, isSchemaMissing } from './database-error.js';

const coded = (code: string, message = 'user zq, password zq') => Object.assign(new Error(message), { code });

describe('what is told of a failure of the control database', () => {
  it("is the driver's code, also through TypeORM's own error", () => {
    expect(errorCode(coded('ECONNREFUSED'))).toBe('ECONNREFUSED');
    expect(errorCode(new QueryFailedError('SELECT zq', ['zq'], coded('ER_LOCK_DEADLOCK')))).toBe('ER_LOCK_DEADLOCK');
    expect(errorCode(new DatabaseError('TIMEOUT', 'unknown'))).toBe('TIMEOUT');
  });

  it('is the kind of error where there is no code, and nothing that a message could smuggle in', () => {
    expect(errorCode(new TypeError('zq'))).toBe('TypeError');
    expect(errorCode(coded('a code with zq'))).toBe('Error');
    expect(errorCode('zq')).toBe('UNKNOWN');
    expect(new DatabaseError('40P01', 'not-stored').message).toBe('control database: 40P01');
  });

  it('knows which failures mend themselves and which need the migrations again', () => {
    expect([isBusy('SQLITE_BUSY'), isBusy('SQLITE_BUSY_SNAPSHOT'), isBusy('SQLITE_FULL')]).toEqual([true, true, false]);
    expect(isSchemaMissing(errorCode(coded('SQLITE_ERROR', 'no such table: quota_usage')))).toBe(true);
    expect(isSchemaMissing(errorCode(coded('SQLITE_ERROR', 'syntax error')))).toBe(false);
    expect(isSchemaMissing('42P01')).toBe(true);
  });
});
