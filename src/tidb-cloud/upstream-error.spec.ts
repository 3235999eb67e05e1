import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Credential } from '../request/credential.js';
import { explain, parseUpstreamError, scrub } from './upstream-error.js';

const KEY: Credential = { kind: 'api-key', publicKey: 'PUBKEY01', privateKey: 'a1b2c3d4-private' };

describe("TiDB Cloud's JSON errors", () => {
  it.each<[string, unknown, unknown]>([
    [
      "the clusters' API",
      { code: 49900007, message: 'too fast', details: [] },
      { code: 49900007, sentence: 'too fast' },
    ],
    ["the clusters' API without details", { code: 5, message: 'gone' }, { code: 5, sentence: 'gone' }],
    [
      'IAM with a sentence',
      { code: '49900003', error: 'bad page', msgPrefix: 'iam', status: 400 },
      { code: '49900003', sentence: 'iam: bad page' },
    ],
    [
      'IAM with an object for an error',
      { code: 'IAM.400', error: {}, msgPrefix: '', status: 400 },
      { code: 'IAM.400', sentence: undefined },
    ],
  ])('are recognised as %s writes them', (_title, body, expected) => {
    expect(parseUpstreamError(body)).toEqual(expected);
  });

  it.each<[string, unknown]>([
    ['nothing', undefined],
    ['null', null],
    ['a list', [{ code: 1, message: 'x' }]],
    ['a text', 'code message'],
    ['a gateway that gives no code', { message: 'no Route matched with those values' }],
    ['a firewall that gives its own code', { code: 'BLOCKED', message: 'denied' }],
    ['a code that is a fraction', { code: 1.5, message: 'x' }],
    ['details that are no list', { code: 5, message: 'x', details: {} }],
    ['a status that is no number', { code: 'x', error: 'y', status: '403' }],
    ['a problem document', { type: 'about:blank', title: 'Forbidden', status: 403 }],
  ])('are not found in %s', (_title, body) => {
    expect(parseUpstreamError(body)).toBeUndefined();
  });
});

describe("What is passed on of the upstream's sentences", () => {
  it('is cut to one line and holds no address and no secret', () => {
    const sentence =
      'user  jane.doe+x@example.com\n(or joe%40example.com) may not use\tPUBKEY01 with a1b2c3d4-private\u0000!';
    expect(scrub(sentence, KEY)).toBe('user [removed] (or [removed]) may not use [removed] with [removed] !');
  });

  it('holds no e-mail address, whatever surrounds it, and stays under its length', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 1500 }), fc.string({ maxLength: 50 }), (before, after) => {
        const text = scrub(`${before} someone@example.com ${after}`, KEY);
        expect(text).not.toContain('someone');
        expect(text.length).toBeLessThanOrEqual(300);
        expect(text).not.toMatch(/\p{Cc}/u);
      }),
    );
  });

  it('holds no part of an address that the cut falls into', () => {
    const text = scrub(`${'a@b '.repeat(245)}xxxxxxxxxxxx.someone.with.a.long.name@example.com`, KEY);
    expect(text).not.toContain('someone');
  });

  it('takes no time to speak of for a sentence of megabytes', () => {
    // Read again and again from each character on, these would take until the test's own time-out.
    expect(scrub('a'.repeat(400_000), KEY)).toBe('');
    expect(scrub('@'.repeat(400_000), KEY)).toBe('');
  });

  it('follows our own sentence, or leaves it alone', () => {
    expect(explain('Refused', { code: 5, sentence: 'why' }, KEY)).toBe('Refused (code 5): why');
    expect(explain('Refused', { code: 5, sentence: undefined }, KEY)).toBe('Refused (code 5).');
  });
});
