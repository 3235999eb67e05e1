import { z } from 'zod';
import type { Kind } from './kinds.js';

/** What is known of one setting beside its type. */
export interface SettingMeta {
  /** What the setting does, for the documents: whole sentences in Markdown. */
  readonly description: string;
  /** What is allowed, for problems and documents. */
  readonly allowed: string;
  /** The default as one would write it into the variable; undefined where unset is a state of its own. */
  readonly fallback: string | undefined;
  /** What an unset variable without a default means. */
  readonly unset: string;
  /** Secrets are never printed. */
  readonly secret: boolean;
}

/** The descriptions of the settings, by their zod types. */
export const SETTING_META = z.registry<SettingMeta>();

/** What only some settings need said. */
export interface SettingOptions {
  readonly unset?: string;
  readonly secret?: boolean;
}

function describe<T extends z.ZodType>(
  type: T,
  kind: Kind<z.ZodType<unknown, string>>,
  fallback: string | undefined,
  description: string,
  { unset = 'none', secret = false }: SettingOptions,
): T {
  SETTING_META.add(type, { description, allowed: kind.allowed, fallback, unset, secret });
  return type;
}

/** A setting with a default, which is written as in the variable and read by the same type. */
export function setting<T extends z.ZodType<unknown, string>>(
  kind: Kind<T>,
  fallback: string,
  description: string,
  options: SettingOptions = {},
): z.ZodPrefault<T> {
  return describe(z.prefault(kind.type, fallback as z.input<T>), kind, fallback, description, options);
}

/** A list that is empty where the variable is unset. */
export function listSetting<T extends z.ZodType<string[], string>>(
  kind: Kind<T>,
  description: string,
  options: SettingOptions = {},
): z.ZodDefault<T> {
  const type = z._default(kind.type, [] as string[] as z.util.NoUndefined<z.output<T>>);
  return describe(type, kind, undefined, description, { unset: 'empty', ...options });
}

/** A setting for which unset is a state of its own. */
export function optional<T extends z.ZodType<unknown, string>>(
  kind: Kind<T>,
  description: string,
  options: SettingOptions = {},
): z.ZodOptional<T> {
  return describe(z.optional(kind.type), kind, undefined, description, options);
}
