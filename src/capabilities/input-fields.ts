import { z } from 'zod';

/** How many items a page has when the caller does not say. */
export const DEFAULT_PAGE_SIZE = 20;

/** An id of TiDB Cloud as callers write it: nothing that could leave its place in an upstream path. */
export function idField(what: string) {
  return z
    .string()
    .regex(/^[A-Za-z0-9_-]{1,64}$/, 'must be 1 to 64 letters, digits, hyphens or underscores')
    .describe(what);
}

/** The two fields of every list. Contract: "Admission, in order". */
export const pageFields = {
  pageSize: z
    .int('must be a whole number from 1 to 100')
    .min(1, 'must be at least 1')
    .max(100, 'must be at most 100')
    .default(DEFAULT_PAGE_SIZE)
    .describe('How many items to answer.'),
  pageToken: z
    .string()
    .regex(/^[ -~]{0,2048}$/, 'must be the nextPageToken of the page before: at most 2048 printable ASCII characters')
    .optional()
    .describe('The nextPageToken of the page before, all else unchanged; none for the first page.'),
};

/**
 * The output of a list: one page, and the token of the next one where there is one. The item's title names the page's.
 */
export function page<T extends z.ZodObject>(item: T, what: string) {
  return z
    .object({
      items: z.array(item).describe(what),
      nextPageToken: z
        .string()
        .optional()
        .describe('Pass it as `pageToken` for the next page; absent on the last one.'),
    })
    .meta({ title: `${item.meta()?.title ?? ''}Page` });
}

/** The token member of a page, absent where TiDB Cloud says by an empty or missing token that there is no next page. */
export function nextPage(token: string | undefined): { nextPageToken?: string } {
  return token === undefined || token === '' ? {} : { nextPageToken: token };
}

/** An optional query value, absent where the caller left it empty. */
export function unlessEmpty(value: string | undefined): string | undefined {
  return value === '' ? undefined : value;
}
