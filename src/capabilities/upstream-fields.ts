import { z } from 'zod';

/** What can be part of an e-mail address on either side of its `@`. */
const ADDRESS_CHARACTER = /[^\s@<>()[\]"',;:]/;
const LONGEST_LOCAL_PART = 64;
const LONGEST_DOMAIN = 255;

/**
 * Takes e-mail addresses out of a text of TiDB Cloud's: they are people's, and no caller needs them. Linear in the
 * text's length: it looks around each `@`, where a pattern would try every character as a beginning.
 */
export function withoutEmails(text: string): string {
  let clean = '';
  let copied = 0;
  for (let at = text.indexOf('@'); at >= 0; at = text.indexOf('@', at + 1)) {
    let start = at;
    while (start > copied && at - start < LONGEST_LOCAL_PART && isAddressCharacter(text, start - 1)) start -= 1;
    let end = at + 1;
    while (end - at <= LONGEST_DOMAIN && isAddressCharacter(text, end)) end += 1;
    if (start === at || end === at + 1) continue;
    clean += `${text.slice(copied, start)}[e-mail withheld]`;
    copied = end;
  }
  return clean + text.slice(copied);
}

function isAddressCharacter(text: string, index: number): boolean {
  return ADDRESS_CHARACTER.test(text.charAt(index));
}

/** A text of TiDB Cloud's that is passed on. */
export const upstreamText = z.string().transform(withoutEmails);

/** An id, which TiDB Cloud's APIs write as a string or as a number; a string here always. */
export const upstreamId = z.union([z.string().min(1), z.int()]).transform(String);

/** A whole number, which protocol buffers' JSON form writes as a string where it has 64 bits. */
export const upstreamInteger = z.union([z.int(), z.string().regex(/^-?\d{1,15}$/)]).transform(Number);

/** A member that may be missing, null or of another shape than we know: then it is absent, and the rest is kept. */
export function maybe<T extends z.ZodType>(schema: T) {
  return schema.optional().catch(undefined);
}
