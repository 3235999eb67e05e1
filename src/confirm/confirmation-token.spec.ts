import { hash } from 'node:crypto';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ConfirmationToken } from './confirmation-token.js';

describe('A confirmation token', () => {
  it('is 256 random bits, of which the ledger keeps the SHA-256', () => {
    const token = ConfirmationToken.create();
    expect(Buffer.from(token.text, 'base64url')).toHaveLength(32);
    expect(token.hash).toBe(hash('sha256', token.text, 'hex'));
    const many = new Set(Array.from({ length: 1000 }, () => ConfirmationToken.create().text));
    expect(many.size).toBe(1000);
  });

  it('is read as it was written, and nothing else is read', () => {
    const token = ConfirmationToken.create();
    expect(ConfirmationToken.read(token.text)?.hash).toBe(token.hash);
    for (const text of ['', 'x', `${token.text}x`, ` ${token.text}`, `${token.text}=`, 'é'.repeat(43)]) {
      expect(ConfirmationToken.read(text)).toBeUndefined();
    }
  });

  it('opens what it sealed, for the purpose and the row that it was sealed for', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.string(), (text, bound) => {
        const token = ConfirmationToken.create();
        const sealed = token.seal('plan', bound, text);
        expect(token.open('plan', bound, sealed)).toBe(Buffer.from(text, 'utf8').toString('utf8'));
        expect(token.open('result', bound, sealed)).toBeUndefined();
        expect(token.open('plan', `${bound}x`, sealed)).toBeUndefined();
        expect(ConfirmationToken.create().open('plan', bound, sealed)).toBeUndefined();
      }),
      { numRuns: 50 },
    );
  });

  it('opens nothing of which a single bit was changed, and nothing that is too short', () => {
    const token = ConfirmationToken.create();
    const sealed = Buffer.from(token.seal('plan', 'row', 'a secret'), 'base64');
    for (let bit = 0; bit < sealed.length * 8; bit += 1) {
      const changed = Buffer.from(sealed);
      changed[bit >> 3]! ^= 1 << (bit & 7);
      expect(token.open('plan', 'row', changed.toString('base64'))).toBeUndefined();
    }
    expect(token.open('plan', 'row', sealed.subarray(0, 20).toString('base64'))).toBeUndefined();
  });

  it('seals the same text differently each time, and digests it the same', () => {
    const token = ConfirmationToken.create();
    expect(token.seal('plan', 'row', 'text')).not.toBe(token.seal('plan', 'row', 'text'));
    expect(token.digest('text')).toBe(ConfirmationToken.read(token.text)?.digest('text'));
    expect(token.digest('text')).not.toBe(ConfirmationToken.create().digest('text'));
    expect(token.digest('text')).not.toBe(hash('sha256', 'text', 'hex'));
  });
});
