import { z } from 'zod';
import { isHeaderName } from './host.js';

/** Each proxy adds its line to these, behind what the caller wrote, or keeps the caller's own list in them. */
const APPENDED = new Set(['forwarded', 'via', 'x-forwarded-for', 'x-original-forwarded-for']);

/**
 * Headers that browsers and other clients write by themselves, and those of a single connection (RFC 9110, 7.6.1): a
 * proxy passes the former on as they are, the latter not at all.
 */
const CLIENTS_OWN = new Set(
  (
    'authorization baggage cache-control connection cookie cookie2 date dnt expect from host http2-settings ' +
    'idempotency-key keep-alive last-event-id max-forwards mcp-method mcp-name mcp-protocol-version mcp-session-id ' +
    'origin pragma priority proxy-authenticate proxy-authorization proxy-connection range referer save-data te ' +
    'traceparent tracestate trailer transfer-encoding upgrade upgrade-insecure-requests user-agent ' +
    'x-http-method-override x-requested-with'
  ).split(' '),
);

/** Families of such headers. */
const CLIENTS_FAMILIES = /^(accept|accept-.+|access-control-.+|content-.+|if-.+|mcp-param-.+|sec-.+)$/;

function isClientsOwn(name: string): boolean {
  return CLIENTS_OWN.has(name) || CLIENTS_FAMILIES.test(name);
}

/**
 * The name of a header that a proxy sets; those that proxies append to are never one, nor those that are clients' own.
 * Contract: "Configuration".
 */
export const setHeader = {
  type: z
    .string()
    .transform((text) => text.toLowerCase())
    .pipe(
      z
        .string()
        .refine(isHeaderName, 'is not a header name')
        .refine((name) => !APPENDED.has(name), 'is appended to, and callers can write it')
        .refine((name) => !isClientsOwn(name), "is every caller's to write"),
    ),
  allowed:
    'a header that the proxy sets, such as fly-client-ip, true-client-ip or cf-connecting-ip (for X-Forwarded-For: TIDB_MCP_TRUSTED_PROXY_DEPTH)',
};
