import fc from 'fast-check';
import { z } from 'zod';
import { describe, expect, it } from 'vitest';
import { maybe, upstreamId, upstreamInteger, upstreamText, withoutEmails } from './upstream-fields.js';

describe('What TiDB Cloud answers', () => {
  it.each([
    ['jane.doe@example.com', '[e-mail withheld]'],
    ['owner jane@example.com, since May', 'owner [e-mail withheld], since May'],
    ['<a@b.co> and c+d@e.org', '<[e-mail withheld]> and [e-mail withheld]'],
    ['user%40host', 'user%40host'],
    ['no address at all', 'no address at all'],
  ])('is passed on without addresses: %s', (text, passed) => {
    expect(withoutEmails(text)).toBe(passed);
  });

  it('is searched in time however long it is', () => {
    // Read again and again from each character on, these would take until the test's own time-out.
    const hostile = [`${'a'.repeat(400_000)}@`, 'a@'.repeat(100_000), `${`${'a'.repeat(64)} `.repeat(60_000)}@`];
    for (const text of hostile) expect(withoutEmails(text)).not.toMatch(/a@a/);
  });

  it('holds no address wherever it stood', () => {
    const around = fc.stringMatching(/^[a-z ,;:<>()"']{0,20}$/);
    const name = fc.stringMatching(/^[a-z.+-]{1,20}$/);
    fc.assert(
      fc.property(fc.array(fc.tuple(around, name, name), { minLength: 1, maxLength: 5 }), (parts) => {
        const clean = withoutEmails(parts.map(([text, local, domain]) => `${text} ${local}@${domain}`).join(' '));
        expect(clean).not.toMatch(/[^\s<>()"',;:]@[^\s<>()"',;:]/);
      }),
    );
  });

  it('has ids as strings, also where it writes numbers', () => {
    expect(upstreamId.parse(12)).toBe('12');
    expect(upstreamId.parse('0012')).toBe('0012');
    expect(upstreamId.safeParse('').success).toBe(false);
  });

  it('has numbers as numbers, also where it writes 64 bits as strings', () => {
    expect(upstreamInteger.parse('2000')).toBe(2000);
    expect(upstreamInteger.parse(7)).toBe(7);
    expect(upstreamInteger.safeParse('many').success).toBe(false);
    expect(upstreamInteger.safeParse(12.5).success).toBe(false);
  });

  it('may lack a member, have it null or in another shape: the rest is kept', () => {
    const schema = z.object({ id: upstreamId, name: maybe(upstreamText) });
    for (const name of [undefined, null, 7, {}])
      expect(schema.parse({ id: 1, name })).toEqual({ id: '1', name: undefined });
    expect(schema.parse({ id: 1, name: 'n', more: true })).toEqual({ id: '1', name: 'n' });
  });
});
