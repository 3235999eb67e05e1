import { describeSettings, type SettingRow } from './describe-settings.js';

/** What stands around the generated part of a Markdown file. */
export const DOCS_START = '<!-- config:start -->';
export const DOCS_END = '<!-- config:end -->';

/** A formatter would pad every table to its widest cell. */
const UNFORMATTED_START = '<!-- prettier-ignore-start -->';
const UNFORMATTED_END = '<!-- prettier-ignore-end -->';

/** The columns at which `.env.example` wraps its comments. */
const WRAP_AT = 100;

/** The settings as Markdown: a heading and a table for each group. */
export function settingsMarkdown(): string {
  return byGroup()
    .map(([group, rows]) => {
      const head = '| variable | default | allowed | meaning |\n| --- | --- | --- | --- |';
      return `### ${group}\n\n${head}\n${rows.map(tableRow).join('\n')}\n`;
    })
    .join('\n');
}

/**
 * A Markdown file with its generated part brought up to date.
 * @throws Error where the two markers are missing or out of order
 */
export function withSettings(markdown: string): string {
  const start = markdown.indexOf(DOCS_START);
  const end = markdown.indexOf(DOCS_END);
  if (start < 0 || end < start) throw new Error(`The file needs the markers ${DOCS_START} and ${DOCS_END}.`);
  const before = markdown.slice(0, start + DOCS_START.length);
  return `${before}\n\n${UNFORMATTED_START}\n\n${settingsMarkdown()}\n${UNFORMATTED_END}\n\n${markdown.slice(end)}`;
}

/** `.env.example`: every variable with its meaning, commented out at its default. */
export function envExample(): string {
  const intro = [
    '# Every variable that tidb-cloud-mcp reads, at its default. Made by `npm run config:docs`; do not edit.',
    '# An empty variable is unset. `tidb-cloud-mcp check` says what is in force, what is risky and what is wrong.',
  ];
  const groups = byGroup().map(([group, rows]) => `\n# == ${group}\n\n${rows.map(exampleEntry).join('\n\n')}\n`);
  return `${intro.join('\n')}\n${groups.join('')}`;
}

function byGroup(): [string, SettingRow[]][] {
  const groups = new Map<string, SettingRow[]>();
  for (const row of describeSettings()) groups.set(row.group, [...(groups.get(row.group) ?? []), row]);
  return [...groups];
}

function tableRow(row: SettingRow): string {
  const fallback = row.fallback === undefined ? row.unset : `\`${row.fallback}\``;
  const cells = [`\`${row.variable}\``, fallback, row.allowed, `${row.description}${row.secret ? ' Secret.' : ''}`];
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
}

function exampleEntry(row: SettingRow): string {
  const unset = row.fallback === undefined ? ` Unset: ${row.unset}.` : '';
  const comment = wrap(`${row.description}${unset} Allowed: ${row.allowed}.`.replaceAll('`', ''));
  return `${comment.map((line) => `# ${line}`).join('\n')}\n# ${row.variable}=${row.fallback ?? ''}`;
}

function wrap(text: string): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > WRAP_AT) {
      lines.push(line);
      line = word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  return [...lines, line];
}
