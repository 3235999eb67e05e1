/** The headers of every answer: what a body is says its `Content-Type` and nothing else. */
export const ANSWER_HEADERS = { 'x-content-type-options': 'nosniff' } as const;

/** {@link ANSWER_HEADERS}, name and value in turn. */
export const ANSWER_HEADER_LIST: readonly string[] = Object.entries(ANSWER_HEADERS).flat();

/**
 * The headers of a page for people: it takes what it needs from this server alone, can't be framed, tells no other site
 * where the reader was, and keeps its window to itself. Swagger UI writes styles into its elements.
 */
export const PAGE_HEADERS = {
  ...ANSWER_HEADERS,
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; " +
    "font-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
} as const;

const PAGES = /^\/(?:docs|console)(?:\/|$)/;
/** Swagger UI registers its routes by itself and can't mark them. */
const DOCS = /^\/docs(?:\/|$)/;

/**
 * What Swagger UI's page is made of. The library serves the whole folder of its package, source maps and package.json
 * among it, and looks at the disk for whatever else is asked.
 */
const DOCS_FILES: ReadonlySet<string> = new Set([
  '/docs',
  '/docs/',
  '/docs/index.html',
  '/docs/swagger-ui.css',
  '/docs/swagger-ui-bundle.js',
  '/docs/swagger-ui-standalone-preset.js',
  '/docs/swagger-ui-init.js',
  '/docs/favicon-16x16.png',
  '/docs/favicon-32x32.png',
]);

/** Whether the route, as it was registered, is one of a page's. */
export function isPage(pattern: string): boolean {
  return PAGES.test(pattern);
}

/** Whether the route, as it was registered, is one of Swagger UI's. */
export function isDocs(pattern: string): boolean {
  return DOCS.test(pattern);
}

/** Whether the path's text names something that Swagger UI's page needs. */
export function isDocsFile(path: string): boolean {
  return DOCS_FILES.has(path);
}
