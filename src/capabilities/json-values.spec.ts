import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { hasTooManyValues, hasUnreadableMember, MOST_VALUES } from './json-values.js';

const bytes = (value: unknown): Uint8Array => Buffer.from(JSON.stringify(value));
const list = (length: number): unknown[] => Array.from({ length }, () => 'long enough');

/** An empty list or object counts twice: the text before its end does not tell. */
function valuesIn(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 1;
  const inner = Object.values(value);
  return inner.length === 0 ? 2 : inner.reduce<number>((sum, member) => sum + valuesIn(member), 1);
}

describe('A body', () => {
  it('may hold a thousand values, the list around them included', () => {
    expect(MOST_VALUES).toBe(1000);
    expect(hasTooManyValues(bytes(list(MOST_VALUES - 1)))).toBe(false);
    expect(hasTooManyValues(bytes(list(MOST_VALUES + 1)))).toBe(true);
  });

  it('is told apart by its members and by its depth as well', () => {
    const members = Object.fromEntries(list(MOST_VALUES + 1).map((value, at) => [`k${at}`, value]));
    expect(hasTooManyValues(bytes(members))).toBe(true);
    expect(hasTooManyValues(Buffer.from('['.repeat(MOST_VALUES) + ']'.repeat(MOST_VALUES)))).toBe(true);
    expect(hasTooManyValues(Buffer.from('{"a":'.repeat(MOST_VALUES) + '1' + '}'.repeat(MOST_VALUES)))).toBe(true);
  });

  it('may hold any text', () => {
    for (const text of [',', '[', '{', '",', '\\",', '\\', 'é,']) {
      expect([text, hasTooManyValues(bytes({ text: text.repeat(5000) }))]).toEqual([text, false]);
    }
  });

  it('is measured by its values, whatever they are', () => {
    const many = fc.array(fc.jsonValue({ maxDepth: 3 }), { maxLength: 900, size: 'max' });
    fc.assert(
      fc.property(many, (value) => {
        const text = bytes(value);
        expect(hasTooManyValues(text)).toBe(text.length >= 2 * MOST_VALUES && valuesIn(value) > MOST_VALUES);
      }),
      { numRuns: 30 },
    );
  });

  it('is told where a member of it could not be read, however it is written and wherever it stands', () => {
    for (const text of ['{"__proto__":1}', '{"a":[{"\\u005f_proto__":{}}]}', '[[{"a":{"__proto__":null}}]]']) {
      expect([text, hasUnreadableMember(JSON.parse(text))]).toEqual([text, true]);
    }
    for (const text of ['"__proto__"', '{"a":"__proto__"}', '["__proto__"]', '{"proto":{"constructor":1}}', 'null']) {
      expect([text, hasUnreadableMember(JSON.parse(text))]).toEqual([text, false]);
    }
  });
});
