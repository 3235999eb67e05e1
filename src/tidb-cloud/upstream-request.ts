/** Which of TiDB Cloud's APIs: clusters, branches and backups, or projects. */
export type UpstreamHost = 'serverless' | 'iam';

/** One request to TiDB Cloud, before it is addressed and signed. */
export interface UpstreamRequest {
  readonly host: UpstreamHost;
  readonly method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';
  /** The segments after `/v1beta1`, unencoded. */
  readonly path: readonly string[];
  /** A custom verb behind the last segment, such as `:reset`. */
  readonly suffix?: string;
  /** Unencoded; undefined values are left out. */
  readonly query?: Readonly<Record<string, string | number | undefined>>;
  /** Sent as JSON. */
  readonly body?: unknown;
}

/** Where an API lives: an origin to connect to and the path that goes before `/v1beta1`. */
export interface UpstreamBase {
  readonly origin: string;
  readonly prefix: string;
}

/** What fits into a request line anywhere, in characters. */
const MAX_TARGET_LENGTH = 8192;

/** Splits a configured base URL (up to and without `/v1beta1`). Throws a TypeError for what is no http(s) URL. */
export function parseBase(url: string): UpstreamBase {
  const { protocol, origin, pathname } = new URL(url);
  if (protocol !== 'https:' && protocol !== 'http:') throw new TypeError('An upstream base must be an http(s) URL.');
  return { origin, prefix: pathname.replace(/\/+$/, '') };
}

/**
 * The request-target: every segment and query part encoded, so that nothing a caller wrote can reach another path.
 * Undefined for what cannot be addressed safely: empty and dot segments, text that is not Unicode, an odd suffix, a
 * target over 8,192 characters.
 */
export function requestTarget(base: UpstreamBase, request: UpstreamRequest): string | undefined {
  const { path, suffix = '', query = {} } = request;
  // A proxy on the way may decode and normalise, so dot segments are refused rather than encoded.
  if (path.length === 0 || path.some((segment) => segment === '' || segment === '.' || segment === '..'))
    return undefined;
  if (!/^(:[A-Za-z]+)?$/.test(suffix)) return undefined;
  const pairs = Object.entries(query).filter(([, value]) => value !== undefined);
  let target: string;
  try {
    const segments = path.map((segment) => encodeURIComponent(segment)).join('/');
    const search = pairs.map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(String(value))}`);
    target = `${base.prefix}/v1beta1/${segments}${suffix}${search.length === 0 ? '' : `?${search.join('&')}`}`;
  } catch {
    // encodeURIComponent throws on a lone surrogate.
    return undefined;
  }
  return target.length <= MAX_TARGET_LENGTH ? target : undefined;
}
