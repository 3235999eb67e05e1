import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AppError } from '../errors/app-error.js';
import { listBranchesOperation } from './operations/list-branches.operation.js';
import { routeInput } from './route-input.js';

const input = routeInput(listBranchesOperation);

describe('The input of a route', () => {
  it('takes ids from the path and the rest from the query, numbers as numbers', () => {
    expect(input.read({ clusterId: '12' }, { pageSize: '5', pageToken: '5' })).toEqual({
      clusterId: '12',
      pageSize: 5,
      pageToken: '5',
    });
  });

  it('leaves what is no number as it came, for the schema to refuse', () => {
    for (const pageSize of ['', '-1', '1.5', '0x10', ' 5', '1e2', '9'.repeat(40)]) {
      expect(input.read({ clusterId: '12' }, { pageSize })).toEqual({ clusterId: '12', pageSize });
    }
  });

  it('never lets the query speak for the path', () => {
    expect(() => input.read({ clusterId: '12' }, { clusterId: '13' })).toThrow(/clusterId: is not known/);
  });

  it('takes any query without failing otherwise than by naming what is wrong', () => {
    const value = fc.oneof(fc.string(), fc.array(fc.string()), fc.constant(undefined));
    fc.assert(
      fc.property(fc.dictionary(fc.oneof(fc.string(), fc.constantFrom('pageSize', '__proto__')), value), (query) => {
        try {
          const raw = input.read({ clusterId: '12' }, query);
          expect(raw['clusterId']).toBe('12');
        } catch (error) {
          expect(error).toBeInstanceOf(AppError);
          expect((error as AppError).extras.errors?.length).toBeLessThanOrEqual(10);
        }
      }),
    );
  });
});
