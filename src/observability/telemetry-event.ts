import type { Surface } from '../errors/error-body.js';
import { IsoStamp } from './iso-stamp.js';
import type { Limit } from '../request/request-context.js';
import { shownTenant } from '../request/shown-tenant.js';

/**
 * One of the four layers refused `representsCount` requests; `tenant` is null where they are several tenants' or
 * nobody's.
 */
export interface RateLimitedEvent {
  event: 'rate_limited';
  limit: Limit;
  surface: Surface;
  tenant: string | null;
  representsCount: number;
}

/** A credential was accepted for the first time, or again after it had been forgotten. */
export interface CredentialProvenEvent {
  event: 'credential_proven';
  tenant: string;
}

/** A credential left the set of proven ones. */
export interface CredentialForgottenEvent {
  event: 'credential_forgotten';
  tenant: string;
  reason: 'rejected' | 'expired' | 'evicted';
}

/** An operation ended; `outcome` is its kind, never a text of the upstream's. */
export interface ToolCalledEvent {
  event: 'tool_called';
  operation: string;
  outcome: string;
  ms: number;
}

/** Quota persistence went away. */
export interface QuotaDegradedEvent {
  event: 'quota_degraded';
  reason: string;
}

/** Quota persistence is back: one flush and one read have succeeded. */
export interface QuotaRecoveredEvent {
  event: 'quota_recovered';
  degradedSeconds: number;
}

/** A confirmation was refused; `code` is the stable code that the caller got. */
export interface ConfirmRefusedEvent {
  event: 'confirm_refused';
  code: string;
  operation: string | undefined;
  tenant: string;
}

/** This instance serves. */
export interface ServerStartedEvent {
  event: 'server_started';
  transport: 'http' | 'stdio';
}

/** This instance has served its last request. */
export interface ServerStoppedEvent {
  event: 'server_stopped';
  uptimeSeconds: number;
}

/**
 * Everything that telemetry tells, one kind each; `at` is stamped when it is emitted. A `tenant` is the whole
 * fingerprint here and its first 12 digits in what is written. Contract: "Telemetry events".
 */
export type TelemetryEvent =
  | RateLimitedEvent
  | CredentialProvenEvent
  | CredentialForgottenEvent
  | ToolCalledEvent
  | QuotaDegradedEvent
  | QuotaRecoveredEvent
  | ConfirmRefusedEvent
  | ServerStartedEvent
  | ServerStoppedEvent;

/** The name of an event's kind. */
export type TelemetryKind = TelemetryEvent['event'];

/** All kinds, in the order of their counters. */
export const TELEMETRY_KINDS = [
  'rate_limited',
  'credential_proven',
  'credential_forgotten',
  'tool_called',
  'quota_degraded',
  'quota_recovered',
  'confirm_refused',
  'server_started',
  'server_stopped',
] as const satisfies readonly TelemetryKind[];

/** What nearly all values are, and what JSON escapes nothing of. */
const WORD = /^[\w-]*$/;

const STAMP = new IsoStamp();

/** An event as one JSON line: `event`, `at`, then the fields of its kind. */
export function telemetryLine(event: TelemetryEvent, atUtcMs: number): string {
  const fields = event as unknown as Readonly<Record<string, string | number | null | undefined>>;
  // Every call has its line, and a copy of the event for JSON.stringify would cost more than writing it.
  let line = `{"event":"${event.event}","at":"${STAMP.text(atUtcMs)}"`;
  for (const name in fields) {
    const value = fields[name];
    if (name !== 'event' && value !== undefined) line += `,"${name}":${fieldText(name, value)}`;
  }
  return `${line}}\n`;
}

function fieldText(name: string, value: string | number | null): string {
  if (typeof value !== 'string') return String(value);
  const text = name === 'tenant' ? shownTenant(value) : value;
  return WORD.test(text) ? `"${text}"` : JSON.stringify(text);
}
