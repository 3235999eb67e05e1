import { z } from 'zod';

/** Quantifiers are bounded so that no text makes the match slow. */
const E_MAIL = /[^\s@<>()[\]"',;:]{1,64}@[^\s@<>()[\]"',;:]{1,255}/g;

/** Takes e-mail addresses out of a text of TiDB Cloud's: they are people's, and no caller needs them. */
export function withoutEmails(text: string): string {
  return text.includes('@') ? text.replace(E_MAIL, '[e-mail withheld]') : text;
}

/** A text of TiDB Cloud's that is passed on. */
export const upstreamText = z.string().transform(withoutEmails);

/** An id, which TiDB Cloud's APIs write as a string or as a number; a string here always. */
export const upstreamId = z.union([z.string().min(1), z.int()]).transform(String);

/** A number, which protocol buffers' JSON form writes as a string where it has 64 bits. */
export const upstreamNumber = z.union([z.number(), z.string().regex(/^-?\d{1,15}$/)]).transform(Number);

/** A member that may be missing, null or of another shape than we know: then it is absent, and the rest is kept. */
export function maybe<T extends z.ZodType>(schema: T) {
  return schema.optional().catch(undefined);
}
