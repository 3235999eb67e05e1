import { describe, expect, it } from 'vitest';
import { prefersJson } from './accept.js';

describe('metrics come as JSON', () => {
  it.each([
    'application/json',
    'Application/JSON; charset=utf-8',
    'application/json, text/plain, */*',
    'text/plain;q=0.5, application/json',
  ])('for Accept: %s', (accept) => {
    expect(prefersJson(accept)).toBe(true);
  });

  it.each([
    undefined,
    '*/*',
    'text/plain',
    'text/plain, application/json',
    'application/json;q=0',
    'application/json;q=0.3, text/plain;q=0.4',
    'application/json;q=x',
    'application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5,*/*;q=0.1',
  ])('but not for Accept: %s', (accept) => {
    expect(prefersJson(accept)).toBe(false);
  });
});
