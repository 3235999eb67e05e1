import { createCipheriv, createDecipheriv, createHmac, hash, hkdfSync, randomBytes } from 'node:crypto';

const TOKEN_BYTES = 32;
const TOKEN = /^[A-Za-z0-9_-]{43}$/;
const KEY_BYTES = 32;
const IV_BYTES = 12;
const TAG_BYTES = 16;
const SALT = 'tidb-cloud-mcp confirmation';

/** What a key is derived for; no key serves two purposes. */
export type SealPurpose = 'plan' | 'result';

/**
 * A confirmation token: 256 random bits that only whoever was answered has. The ledger keeps its SHA-256; everything
 * secret beside it is sealed under keys derived from the token (HKDF-SHA-256, RFC 5869; AES-256-GCM), so that whoever
 * reads the database learns neither.
 */
export class ConfirmationToken {
  /** What the ledger knows it by: SHA-256 in hex. */
  readonly hash: string;

  private constructor(readonly text: string) {
    this.hash = hash('sha256', text, 'hex');
  }

  /** A new one. */
  static create(): ConfirmationToken {
    return new ConfirmationToken(randomBytes(TOKEN_BYTES).toString('base64url'));
  }

  /** The token that a caller wrote, or undefined for what was never one. */
  static read(text: string): ConfirmationToken | undefined {
    return TOKEN.test(text) ? new ConfirmationToken(text) : undefined;
  }

  /**
   * Encrypts a text.
   * @param bound what the text belongs to; it opens only together with the same
   */
  seal(purpose: SealPurpose, bound: string, text: string): string {
    const iv = randomBytes(IV_BYTES);
    const cipher = createCipheriv('aes-256-gcm', this.key(`seal ${purpose}`), iv).setAAD(Buffer.from(bound));
    const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
    return Buffer.concat([iv, cipher.getAuthTag(), sealed]).toString('base64');
  }

  /** The text that {@link seal} encrypted, or undefined where it is not, was changed, or belongs to something else. */
  open(purpose: SealPurpose, bound: string, sealed: string): string | undefined {
    const bytes = Buffer.from(sealed, 'base64');
    if (bytes.length < IV_BYTES + TAG_BYTES) return undefined;
    try {
      const iv = bytes.subarray(0, IV_BYTES);
      const decipher = createDecipheriv('aes-256-gcm', this.key(`seal ${purpose}`), iv, { authTagLength: TAG_BYTES });
      decipher.setAAD(Buffer.from(bound)).setAuthTag(bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES));
      return decipher.update(bytes.subarray(IV_BYTES + TAG_BYTES), undefined, 'utf8') + decipher.final('utf8');
    } catch {
      return undefined;
    }
  }

  /**
   * A digest of a text, in hex. It is keyed, because a plain one beside the other columns would let a reader of the
   * database test guesses of a password.
   */
  digest(text: string): string {
    return createHmac('sha256', this.key('digest')).update(text).digest('hex');
  }

  private key(use: string): Buffer {
    return Buffer.from(hkdfSync('sha256', this.text, SALT, use, KEY_BYTES));
  }
}
