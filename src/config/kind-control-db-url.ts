import { z } from 'zod';
import { parseControlDbUrl } from './control-db-url.js';

/** The URL of the control database; what is allowed in it is {@link parseControlDbUrl}'s to say. */
export const controlDbUrl = {
  type: z.string().superRefine((text, context) => {
    const parsed = parseControlDbUrl(text);
    // The sentence may quote what was written, and that may hold a password.
    if (!parsed.ok) context.addIssue({ code: 'custom', message: withoutUrl(parsed.message, text) });
  }),
  allowed: 'sqlite:PATH, sqlite::memory:, mysql://… (TiDB, MySQL, MariaDB) or postgres://…',
};

/** What goes to people must not repeat a URL, which may hold a password; one without an authority holds none. */
function withoutUrl(message: string, text: string): string {
  return text.includes('//') ? message.replaceAll(text, '***') : message;
}
