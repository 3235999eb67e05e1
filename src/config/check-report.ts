import type { Config } from './config.js';
import { describeControlDb, parseControlDbUrl } from './control-db-url.js';
import { describeSettings, type SettingRow } from './describe-settings.js';
import type { ParsedConfig } from './parse-config.js';
import { risks } from './risks.js';
import { shownValue } from './shown-value.js';

/**
 * What `check` prints on standard output: what is in force, what is worth knowing and what is risky. What is wrong goes
 * to standard error, as at every start.
 */
export function checkReport(parsed: ParsedConfig): string {
  if (!parsed.ok) {
    const count = parsed.problems.length === 1 ? '1 setting is' : `${parsed.problems.length} settings are`;
    return [...section('Warnings', parsed.warnings), `Nothing is in force: ${count} wrong.`, ''].join('\n');
  }
  return [
    ...inForce(parsed.config),
    ...section('Warnings', parsed.warnings),
    ...section('Risks', risks(parsed.config)),
    'Nothing is wrong.',
    '',
  ].join('\n');
}

function section(title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : [title, ...lines.map((line) => `  ! ${line}`), ''];
}

function inForce(config: Config): string[] {
  const rows = describeSettings();
  const width = Math.max(...rows.map((row) => row.variable.length));
  const lines: string[] = [];
  let group = '';
  for (const row of rows) {
    if (row.group !== group) lines.push(...(group === '' ? [] : ['']), row.group);
    group = row.group;
    const origin = config.declared.includes(row.key) ? 'set' : 'default';
    lines.push(`  ${row.variable.padEnd(width)}  ${origin.padEnd(7)}  ${valueText(config, row)}`);
  }
  if (config.otlpLogsUrl !== undefined) {
    lines.push(
      '',
      'OpenTelemetry',
      `  events also go to ${shownValue(config.otlpLogsUrl, config.otlpLogsUrl.includes('@'))}`,
    );
  }
  return [...lines, ''];
}

function valueText(config: Config, row: SettingRow): string {
  if (row.key === 'controlDbUrl') return databaseText(config.controlDbUrl);
  const value = config[row.key];
  if (value === undefined) return `(${row.unset})`;
  if (typeof value !== 'object') return shownValue(String(value), row.secret);
  if (value.length === 0) return `(${row.unset})`;
  return row.secret ? `*** (${value.length})` : value.map((entry) => shownValue(entry, false)).join(', ');
}

function databaseText(url: string): string {
  const parsed = parseControlDbUrl(url);
  return parsed.ok ? shownValue(describeControlDb(parsed.options), false) : '***';
}
