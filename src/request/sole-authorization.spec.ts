import { describe, expect, it } from 'vitest';
import { soleAuthorization } from './sole-authorization.js';

describe('The Authorization header of a request', () => {
  it('is looked for by its name in any case, and in two there is none', () => {
    expect(soleAuthorization(['Host', 'x', 'AUTHORIZATION', 'a'])).toBe('a');
    expect(soleAuthorization(['Authorization', 'a', 'Host', 'x', 'authorization', 'a'])).toBeUndefined();
    expect(soleAuthorization(['X', 'Authorization', 'Host', 'x'])).toBeUndefined();
  });
});
