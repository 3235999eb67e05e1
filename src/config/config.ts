import type { SettingKey, Settings } from './settings.js';

/** Injection token of the {@link Config}. */
export const CONFIG = Symbol('Config');

type ReadonlyLists<T> = { readonly [K in keyof T]: T[K] extends (infer E extends string)[] ? readonly E[] : T[K] };

/** Which transport a configuration is for; on stdio there are no limits, and standard output belongs to the protocol. */
export type Transport = 'http' | 'stdio';

/**
 * What the server runs with: every setting under its camel-case name, frozen. Units are the variables' own
 * (`quotaFlushSeconds`, `upstreamTimeoutMs`); an optional setting that is unset is undefined.
 */
export type Config = ReadonlyLists<Omit<Settings, 'allowedHosts'>> & {
  /** Accepted `Host` headers in lower case, IPv6 in brackets; `['*']`: any. */
  readonly allowedHosts: readonly string[];
  readonly transport: Transport;
  /** Which settings were set, as opposed to left at their defaults. */
  readonly declared: readonly SettingKey[];
  /** Where telemetry events go as OpenTelemetry logs too, by OpenTelemetry's own variables. */
  readonly otlpLogsUrl: string | undefined;
};
