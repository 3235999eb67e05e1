import type { z } from 'zod';
import { isLoopback } from './cidr.js';
import type { Config, Transport } from './config.js';
import { nearestName } from './nearest-name.js';
import { type Environment, otlpLogsUrl, otlpProblems } from './otlp-endpoint.js';
import { crossProblems, startupWarnings } from './rules.js';
import { SETTING_META } from './setting.js';
import { SETTING_KEYS, type SettingKey, type Settings, SettingsSchema, variableName } from './settings.js';
import { escapeControls, shownValue } from './shown-value.js';

/** A configuration, or everything that is wrong with it, one sentence each, without any secret. */
export type ParsedConfig =
  { ok: true; config: Config; warnings: string[] } | { ok: false; problems: string[]; warnings: string[] };

/**
 * Reads the whole configuration and reports all mistakes together: nothing is guessed, an empty variable is unset, and
 * a value that isn't understood is a problem, never the default. Contract: "Commands" and "Configuration".
 * @param transport for which the configuration is read; warnings about limits say nothing to one without them
 */
export function parseConfig(env: Environment, transport: Transport = 'http'): ParsedConfig {
  const read = readSettings(env);
  const problems = [...read.problems, ...crossProblems(read.settings), ...otlpProblems(env)];
  const warnings = unknownNames(env);
  if (problems.length > 0) return { ok: false, problems, warnings };
  const origin = { transport, declared: read.declared, otlpLogsUrl: otlpLogsUrl(env) };
  const config = completed(read.settings as Settings, origin);
  if (transport === 'http') warnings.push(...startupWarnings(config));
  return { ok: true, config, warnings };
}

/**
 * The configuration of an environment that is known to be right, such as an embedder's or a test's own.
 * @throws Error with every problem, a line each
 */
export function configOf(env: Environment = {}, transport: Transport = 'http'): Config {
  const parsed = parseConfig(env, transport);
  if (parsed.ok) return parsed.config;
  throw new Error(parsed.problems.join('\n'));
}

interface Reading {
  readonly settings: Partial<Settings>;
  readonly declared: SettingKey[];
  readonly problems: string[];
}

function readSettings(env: Environment): Reading {
  const settings: Record<string, unknown> = {};
  const declared: SettingKey[] = [];
  const problems: string[] = [];
  for (const key of SETTING_KEYS) {
    const text = env[variableName(key)] || undefined;
    const type: z.ZodType = SettingsSchema.shape[key];
    const result = type.safeParse(text);
    if (result.success) settings[key] = result.data;
    else problems.push(...result.error.issues.map((issue) => problem(key, text ?? '', issue)));
    if (text !== undefined) declared.push(key);
  }
  return { settings, declared, problems };
}

/** One mistake as people read it: `NAME=value: what is wrong, what is allowed`. */
function problem(key: SettingKey, text: string, issue: z.core.$ZodIssue): string {
  const meta = SETTING_META.get(SettingsSchema.shape[key]);
  const [index] = issue.path;
  const entry = typeof index === 'number' ? `entry ${index + 1} ` : '';
  const value = shownValue(text, meta?.secret === true);
  return `${variableName(key)}=${value}: ${entry}${issue.message}, allowed: ${meta?.allowed}`;
}

function completed(settings: Settings, origin: Pick<Config, 'transport' | 'declared' | 'otlpLogsUrl'>): Config {
  const { allowedHosts = defaultHosts(settings.host), ...rest } = settings;
  const config: Config = { ...rest, allowedHosts, ...origin };
  for (const value of Object.values(config)) Object.freeze(value);
  return Object.freeze(config);
}

/**
 * Behind a loopback listener only loopback names are expected; behind any other the names are the operator's to list.
 */
function defaultHosts(host: string): string[] {
  if (!isLoopback(host)) return ['*'];
  const own = host.includes(':') ? `[${host}]` : host.toLowerCase();
  return [...new Set(['localhost', '127.0.0.1', '[::1]', own])];
}

function unknownNames(env: Environment): string[] {
  const known = SETTING_KEYS.map(variableName);
  return Object.keys(env)
    .filter((name) => name.startsWith('TIDB_MCP_') && !known.includes(name))
    .map(
      (name) =>
        `${escapeControls(name)} is unknown and has no effect; the nearest known name is ${nearestName(name, known)}.`,
    );
}
