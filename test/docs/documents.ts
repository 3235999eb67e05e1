import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The project's root, where the tests run. */
export const ROOT = process.cwd();

/** A document's text, by its path from the root. */
export function readDocument(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8');
}

/** Every Markdown document of the project, as paths from the root. */
export function allDocuments(): string[] {
  const below = (folder: string) =>
    readdirSync(join(ROOT, folder), { withFileTypes: true })
      .filter((entry) => entry.isFile() && entry.name.endsWith('.md'))
      .map((entry) => (folder === '.' ? entry.name : `${folder}/${entry.name}`));
  return ['.', 'docs', 'docs/decisions'].flatMap((folder) => below(folder).sort());
}

/** The text under a heading, up to the next heading of its level or above. */
export function section(text: string, heading: string): string {
  const [marks = ''] = /^#+/.exec(heading) ?? [];
  const start = text.indexOf(`\n${heading}\n`);
  if (start < 0) throw new Error(`There is no heading "${heading}".`);
  const rest = text.slice(start + heading.length + 2);
  const end = rest.search(new RegExp(`^#{1,${marks.length}} `, 'm'));
  return end < 0 ? rest : rest.slice(0, end);
}

/** The rows of the tables in a text, without head and rule, as trimmed cells. */
export function tableRows(text: string): string[][] {
  const lines = text.split('\n').filter((line) => line.startsWith('|'));
  const rules = new Set(lines.flatMap((line, index) => (/^[|\s:-]+$/.test(line) ? [index, index - 1] : [])));
  return lines
    .filter((_, index) => !rules.has(index))
    .map((line) =>
      line
        .slice(1, line.lastIndexOf('|'))
        .split('|')
        .map((cell) => cell.trim()),
    );
}

/** The code blocks of one language. */
export function codeBlocks(text: string, language: string): string[] {
  return [...text.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, 'gm'))].map(([, code = '']) => code);
}

/** What stands in backticks anywhere in a text. */
export function inlineCode(text: string): string[] {
  return [...text.matchAll(/`([^`\n]+)`/g)].map(([, code = '']) => code);
}

/** A heading's anchor as GitHub makes it. */
export function anchorsOf(text: string): Set<string> {
  const headings = [...text.replace(/^```[\s\S]*?^```$/gm, '').matchAll(/^#+ (.+)$/gm)].map(([, title = '']) => title);
  return new Set(
    headings.map((title) =>
      title
        .toLowerCase()
        .replace(/[^\p{L}\p{N} _-]/gu, '')
        .replaceAll(' ', '-'),
    ),
  );
}
