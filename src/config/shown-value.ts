/** Values longer than this are cut in what people read. */
const LONGEST_SHOWN = 120;

/** Control characters and what else would break or fake a line, written as escapes. */
export function escapeControls(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (char) => `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`);
}

/** A variable's text as it may be printed: a secret as `***`, a credential inside a URL as `***`, all on one line. */
export function shownValue(text: string, secret: boolean): string {
  if (secret && text !== '') return '***';
  const withoutCredential = text.replace(/(\/\/)[^/?#]*@/g, '$1***@');
  const shown = escapeControls(withoutCredential);
  return shown.length > LONGEST_SHOWN ? `${shown.slice(0, LONGEST_SHOWN)}…` : shown;
}
