import fc from 'fast-check';
import { z } from 'zod';
import { describe, expect, it } from 'vitest';
import { AppError } from '../errors/app-error.js';
import { idField, pageFields } from './input-fields.js';
import { readInput } from './input.js';
import { defineOperation, READS_TIDB_CLOUD } from './operation.js';

const operation = defineOperation({
  name: 'sample',
  title: 'Sample',
  description: 'A sample.',
  input: z.strictObject({ clusterId: idField('An id.'), ...pageFields, flag: z.boolean().optional() }),
  output: z.object({}),
  annotations: READS_TIDB_CLOUD,
  route: { method: 'GET', path: '/samples/:clusterId', operationId: 'sample', tag: 'Samples' },
  example: { input: { clusterId: '1' }, output: {} },
  run: () => Promise.resolve({}),
});

function errorOf(raw: unknown): AppError {
  try {
    readInput(operation, raw);
  } catch (error) {
    if (error instanceof AppError) return error;
    throw error;
  }
  throw new Error('The input was taken.');
}

describe('An input', () => {
  it('gets the default page size where none is given', () => {
    expect(readInput(operation, { clusterId: 'a-1_B' })).toEqual({ clusterId: 'a-1_B', pageSize: 20 });
  });

  it('names every mistake at once, in the sentence and in the list', () => {
    const error = errorOf({ pageSize: 1.5, flag: 'yes', colour: 'red' });
    expect(error.code).toBe('INVALID_ARGUMENT');
    expect(error.extras.errors).toEqual([
      { path: 'clusterId', message: 'is required' },
      { path: 'pageSize', message: 'must be a whole number from 1 to 100' },
      { path: 'flag', message: 'must be of type boolean' },
      { path: 'colour', message: 'is not known; allowed: clusterId, pageSize, pageToken, flag' },
    ]);
    expect(error.message).toContain('clusterId: is required; pageSize: must be');
  });

  it.each([null, 'text', 7, []])('that is %o instead of an object is a mistake of the whole', (raw) => {
    expect(errorOf(raw).extras.errors).toEqual([{ path: '', message: 'must be of type object' }]);
  });

  it('that is absent is an empty one', () => {
    expect(errorOf(undefined).extras.errors).toEqual([{ path: 'clusterId', message: 'is required' }]);
  });

  it('with a thousand unknown names is answered with the first ten, cut short', () => {
    const raw = Object.fromEntries(Array.from({ length: 1000 }, (_, i) => [`${'n'.repeat(500)}${i}`, 1]));
    const { errors = [] } = errorOf({ clusterId: '1', ...raw }).extras;
    expect(errors).toHaveLength(10);
    expect(errors.every(({ path }) => path.length <= 64)).toBe(true);
  });

  it('takes an id exactly where it cannot leave its place in a path', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 80 }), (clusterId) => {
        const safe = /^[A-Za-z0-9_-]+$/.test(clusterId) && clusterId.length <= 64 && !clusterId.endsWith('\n');
        expect(operation.input.safeParse({ clusterId }).success).toBe(safe);
      }),
    );
    expect(operation.input.safeParse({ clusterId: 'a\n' }).success).toBe(false);
  });
});
