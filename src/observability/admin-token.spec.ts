import { describe, expect, it } from 'vitest';
import { isAdmin } from './admin-token.js';

const TOKEN = 'an-operators-token';

describe('the admin token', () => {
  it.each([`Bearer ${TOKEN}`, `bearer   ${TOKEN}`, `BEARER ${TOKEN} `])('is known as "%s"', (header) => {
    expect(isAdmin(header, TOKEN)).toBe(true);
  });

  it.each([
    undefined,
    '',
    TOKEN,
    'Bearer',
    `Bearer ${TOKEN}x`,
    `Bearer ${TOKEN.slice(1)}`,
    `Basic ${TOKEN}`,
    `Bearer ${TOKEN.toUpperCase()}`,
    `Bearer ${TOKEN} ${TOKEN}`,
    `Bearer ${' '.repeat(9000)}${TOKEN}`,
  ])('is not known as %j', (header) => {
    expect(isAdmin(header, TOKEN)).toBe(false);
  });
});
