import type { Surface } from '../errors/error-body.js';
import type { AddressSource, Limit } from '../request/request-context.js';

/** The four layers in the order of their counters. */
export const LIMITS = ['preauth', 'tenant', 'quota', 'global'] as const satisfies readonly Limit[];

/** The surfaces in the order of their counters. */
export const SURFACES = ['mcp', 'v1', 'other'] as const satisfies readonly Surface[];

/** Where an address came from, in the order of its counters. */
export const ADDRESS_SOURCES = [
  'header',
  'forwarded',
  'socket',
  'fallback',
] as const satisfies readonly AddressSource[];

/** How a validation ended; `missing` counts requests that brought no credential. */
export const AUTH_RESULTS = ['accepted', 'rejected', 'unavailable', 'missing'] as const;

/** How a quota flush ended. */
export const FLUSH_RESULTS = ['ok', 'failed', 'unknown'] as const;

/** What became of a telemetry event; `sampled`: held back and represented by a later one. */
export const EVENT_RESULTS = ['sent', 'sampled', 'dropped'] as const;

/** What became of the refusals that telemetry events stand for. */
export const REPRESENTED_RESULTS = ['sent', 'dropped'] as const;

/** What became of the copies of events that go to a collector. */
export const COLLECTOR_RESULTS = ['sent', 'dropped'] as const;
