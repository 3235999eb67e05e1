import { isIPv4 } from 'node:net';

/** Scheme, two slashes and what stands for user, host and port; a URL parser would make do with less. */
const WRITTEN = /^https?:\/\/([^/?#\\]+)/i;

/** A host name as the parser leaves it: underscores too, which names of containers have. */
const NAME = /^[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?)*\.?$/;

/**
 * What keeps a text from being an http or https URL that means what it says, as the end of "the value …"; undefined
 * when nothing does. Stricter than a URL parser (WHATWG URL), which repairs: `https:x`, `http://1` and a host of stars
 * are all URLs to it, of hosts that nobody has named.
 */
export function httpUrlProblem(text: string): string | undefined {
  if (!URL.canParse(text)) return 'is not a URL';
  const url = new URL(text);
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return 'is neither http nor https';
  if (/[\s\\\p{Cc}]/u.test(text)) return 'holds a blank, a backslash or a control character';
  const authority = WRITTEN.exec(text)?.[1];
  if (authority === undefined) return 'has no host behind its scheme and two slashes';
  if (url.port === '0') return 'has port 0, where nothing can be reached';
  return isMeant(url.hostname, authority) ? undefined : 'has a host that is neither a name nor an address';
}

/** Whether a URL holds a user or a password. */
export function holdsCredential(text: string): boolean {
  const { username, password } = new URL(text);
  return username !== '' || password !== '';
}

/** An address is meant only where one is written, in full: the parser takes any number for an IPv4 address. */
function isMeant(hostname: string, authority: string): boolean {
  if (hostname.startsWith('[')) return true;
  const host = authority.replace(/^.*@/, '').replace(/:\d*$/, '');
  return isIPv4(hostname) ? host === hostname : NAME.test(hostname);
}
