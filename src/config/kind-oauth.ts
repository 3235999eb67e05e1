import { z } from 'zod';
import { isLoopback } from './cidr.js';
import { holdsCredential, httpUrlProblem } from './http-url.js';

/** A URL that `wrong` finds nothing wrong with, as `read` writes it. */
function url(wrong: (url: URL, text: string) => string | undefined, read: (url: URL, text: string) => string) {
  return z.string().transform((text, context) => {
    const message = httpUrlProblem(text) ?? (holdsCredential(text) ? 'holds a credential' : wrong(new URL(text), text));
    if (message === undefined) return read(new URL(text), text);
    context.addIssue({ code: 'custom', message });
    return z.NEVER;
  });
}

/** In the open only on this very machine: clients send their users there to sign in, or their tokens. */
function unencrypted({ protocol, hostname }: URL): string | undefined {
  const isOpen = protocol === 'http:' && !isLoopback(hostname.replace(/^\[|\]$/g, ''));
  return isOpen ? 'is http beyond loopback' : undefined;
}

/** The address of an OpenID Connect userinfo endpoint. */
export const userinfoUrl = {
  type: url(
    (_, text) => (text.includes('#') ? 'has a fragment' : undefined),
    (url) => url.href,
  ),
  allowed: 'an http or https URL without fragment and without credential',
};

/** An OAuth issuer (RFC 8414); kept as written, since clients compare it character by character. */
export const issuer = {
  type: url(
    (url, text) => unencrypted(url) ?? (/[?#]/.test(text) ? 'has a query or a fragment' : undefined),
    (_, text) => text,
  ),
  allowed: 'an https URL (http on loopback) without query and fragment, exactly as the issuer writes it',
};

/** The origin under which callers reach this server. */
export const publicUrl = {
  type: url(
    (url, text) =>
      unencrypted(url) ??
      (url.pathname !== '/' || /[?#]/.test(text) ? 'is more than scheme, host and port' : undefined),
    (url) => url.origin,
  ),
  allowed: 'an https URL (http on loopback) of scheme, host and port alone, such as https://mcp.example.com',
};
