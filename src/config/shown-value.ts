/** Values longer than this are cut in what people read. */
const LONGEST_SHOWN = 120;

/** A file's path, which holds no credential; with a host it is a URL like others. */
const FILE = /^(sqlite|file):(?!\/\/[^/])/i;
const BEFORE_AT = /^([a-z][a-z0-9+.-]*:[/\\]+)?.*@/is;

/** Control characters and what else would break or fake a line, written as escapes. */
export function escapeControls(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (char) => `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`);
}

/**
 * A variable's text as it may be printed, on one line: a secret as `***`, and so is what stands before an `@`, however
 * badly the URL around it is written.
 */
export function shownValue(text: string, secret: boolean): string {
  if (secret && text !== '') return '***';
  const withoutCredential = FILE.test(text) ? text : text.replace(BEFORE_AT, '$1***@');
  const shown = escapeControls(withoutCredential);
  return shown.length > LONGEST_SHOWN ? `${shown.slice(0, LONGEST_SHOWN)}…` : shown;
}
