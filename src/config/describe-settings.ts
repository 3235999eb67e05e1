import { SETTING_META, type SettingMeta } from './setting.js';
import { SETTING_GROUPS, type SettingKey, SettingsSchema, variableName } from './settings.js';

/** One setting as documents show it. */
export interface SettingRow extends SettingMeta {
  readonly key: SettingKey;
  readonly variable: string;
  /** The heading under which it stands. */
  readonly group: string;
}

/** Every setting in reading order. */
export function describeSettings(): SettingRow[] {
  return SETTING_GROUPS.flatMap(({ title, shape }) =>
    (Object.keys(shape) as SettingKey[]).map((key) => settingRow(key, title)),
  );
}

function settingRow(key: SettingKey, group: string): SettingRow {
  const meta = SETTING_META.get(SettingsSchema.shape[key]);
  if (meta === undefined) throw new Error(`The setting ${key} has no description.`);
  return { key, variable: variableName(key), group, ...meta };
}
