import { short } from './numbers.js';

/** One line of a section's table: what was measured, in the section's unit, and against what. */
export interface Row {
  readonly what: string;
  /** By column: a number, or a text where there is none. */
  readonly values: Readonly<Record<string, number | string>>;
  /** What issue and documents promise of this line: the value in `column` is at most `most`. */
  readonly target?: { readonly column: string; readonly most: number } | undefined;
}

/** What one program measured. */
export interface Section {
  readonly name: string;
  readonly title: string;
  readonly rows: readonly Row[];
  readonly notes?: readonly string[];
}

/** A section as a Markdown table. */
export function tableOf({ title, rows, notes = [] }: Section): string {
  const columns = [...new Set(rows.flatMap(({ values }) => Object.keys(values)))];
  const head = ['', ...columns, 'target'];
  const lines = rows.map((row) => [row.what, ...columns.map((column) => cell(row.values[column])), verdict(row)]);
  const align = head.map((_, index) => (index === 0 ? '---' : '---:'));
  const table = [head, align, ...lines].map((cells) => `| ${cells.join(' | ')} |`);
  return ['', `### ${title}`, '', ...table, ...notes.flatMap((note) => ['', note]), ''].join('\n');
}

/** Whether a row keeps its promise; undefined where it makes none. */
export function isMet({ target, values }: Row): boolean | undefined {
  if (target === undefined) return undefined;
  const value = values[target.column];
  return typeof value === 'number' && value <= target.most;
}

function verdict(row: Row): string {
  const met = isMet(row);
  return met === undefined ? '' : `≤ ${row.target?.most}: ${met ? 'met' : 'NOT met'}`;
}

function cell(value: number | string | undefined): string {
  return typeof value === 'number' ? short(value) : (value ?? '');
}
