import { httpUrlProblem } from './http-url.js';
import { shownValue } from './shown-value.js';

/** Variables by name, as the process has them. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** The standard's own variables, of which the first wins: the logs' whole address, or the base for all signals. */
const LOGS_ENDPOINT = 'OTEL_EXPORTER_OTLP_LOGS_ENDPOINT';
const ENDPOINT = 'OTEL_EXPORTER_OTLP_ENDPOINT';

/**
 * Where OpenTelemetry logs go, by the variables that OpenTelemetry itself defines (OTLP exporter configuration):
 * undefined where none is set, or where `OTEL_SDK_DISABLED=true` or `OTEL_LOGS_EXPORTER=none` says so.
 */
export function otlpLogsUrl(env: Environment): string | undefined {
  if (env['OTEL_SDK_DISABLED']?.toLowerCase() === 'true' || env['OTEL_LOGS_EXPORTER'] === 'none') return undefined;
  const own = env[LOGS_ENDPOINT];
  if (own) return own;
  const base = env[ENDPOINT];
  return base ? `${base.replace(/\/+$/, '')}/v1/logs` : undefined;
}

/** What is wrong with those variables: the library would take its own default in place of an address that is none. */
export function otlpProblems(env: Environment): string[] {
  return [LOGS_ENDPOINT, ENDPOINT].flatMap((name) => {
    const text = env[name];
    const problem = text ? (httpUrlProblem(text) ?? restProblem(name, text)) : undefined;
    if (!text || problem === undefined) return [];
    // An address may hold a credential.
    const shown = shownValue(text, text.includes('@'));
    return [`${name}=${shown}: ${problem}, allowed: an http or https URL that logs can be sent to`];
  });
}

/** A path is added to the base, and a fragment is never sent. */
function restProblem(name: string, text: string): string | undefined {
  if (text.includes('#')) return 'has a fragment';
  return name === ENDPOINT && text.includes('?') ? `has a query, which only ${LOGS_ENDPOINT} may` : undefined;
}
