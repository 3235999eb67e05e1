import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

/** A file of the page, as it is sent. */
export interface ConsoleAsset {
  readonly body: Buffer;
  readonly contentType: string;
  /** RFC 9110, strong. */
  readonly etag: string;
}

/** Injection token of the page's files by their route; empty where the console is off. */
export const CONSOLE_ASSETS = Symbol('ConsoleAssets');

/** The page's files under the routes at which they are served. */
export type ConsoleAssets = ReadonlyMap<string, ConsoleAsset>;

const PAGE = 'index.html';
const CHART_LIBRARY = 'chart.umd.min.js';

/** Everything that the page is made of. */
const FILES = [
  PAGE,
  'console.css',
  'icon.svg',
  CHART_LIBRARY,
  'charts.js',
  'console.js',
  'feed.js',
  'format.js',
  'tables.js',
  'view.js',
] as const;

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  svg: 'image/svg+xml',
};

/** The routes of all files, below `/console`; the page's own is empty. */
export const CONSOLE_ROUTES: readonly string[] = FILES.map(routeOf);

/** Reads the page's files once, so that no request looks at the disk. */
export function loadConsoleAssets(): ConsoleAssets {
  return new Map(FILES.map((file) => [routeOf(file), assetOf(file)]));
}

function routeOf(file: string): string {
  return file === PAGE ? '' : file;
}

function assetOf(file: string): ConsoleAsset {
  const body = file === CHART_LIBRARY ? chartLibrary() : readFileSync(new URL(`assets/${file}`, import.meta.url));
  const etag = `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`;
  return { body, contentType: CONTENT_TYPES[file.slice(file.lastIndexOf('.') + 1)] ?? '', etag };
}

/** The library's own build for browsers, without the line that names a source map that is not served. */
function chartLibrary(): Buffer {
  const folder = dirname(createRequire(import.meta.url).resolve('chart.js'));
  const text = readFileSync(join(folder, CHART_LIBRARY), 'utf8');
  return Buffer.from(text.replace(/\n\/\/# sourceMappingURL=\S+\s*$/, '\n'));
}
